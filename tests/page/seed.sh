#!/usr/bin/env bash
# Fills a home with memories as a person would have them, for screenshots: seed.sh MEMDIR HOME
set -euo pipefail
memdir="$1" home="$2"
run() { env -i PATH="$PATH" HOME="$home" MEMDIR_HOME="$home/.memdir" USER="${actor:-ada}" TZ=UTC "$memdir" "$@" > /dev/null; }
run write notes/deploy --type project --description 'When and how we deploy' --cue 'ship it' --when-command 'kubectl apply*' '# Deploys

Deploy on Tuesdays, **never on Fridays**. The checklist is in [release](release.md), and [[people/ada]] owns the pipeline.

| step | command |
|---|---|
| build | `make image` |
| deploy | `make deploy` |

```sh
make deploy ENV=production
```
'
run write notes/release --type project --description 'Checklist before a release' '- [x] tests are green
- [ ] changelog
- [ ] see [deploys](deploy.md)
'
run write people/ada --type user --description 'Who Ada is' 'Ada owns billing and the deploy pipeline. She drinks green tea.'
run write feedback/short-answers --type feedback --description 'Ada wants short answers' 'Answer in at most three sentences, then ask.'
run write feedback/no-force-push --type feedback --description 'Never force-push' --when-command 'git push --force*' --strength hold 'Never force-push to main: it lost two days of work in March.'
run write reference/ci --type reference --description 'How CI runs' 'CI runs on every push. The cache is in `ci/cache.toml`. See [[notes/deploy]].'
run write user/editor --type user --description 'Editor and shell' 'Uses Helix and fish.'
actor=claude-code run write notes/deploy --append 'Not between Christmas and New Year either.'
actor=claude-code run edit people/ada 'green tea' 'oolong tea'
actor=codex run write notes/flaky --type project --description 'The flaky checkout test' 'The checkout test fails if the clock is not UTC. Bob saw it yesterday.'
for n in 1 2 3 4 5 6; do run write "old/2025/note-$n" --description "An old note, number $n" "Something that was true in 2025, part $n."; done
run write notes/old-deploy --type project --description 'How we deployed in 2024' 'Deploy on Fridays, when the office is quiet.'
run write notes/new-deploy --type project '---
description: Who may deploy
status: draft
stale_after: 2026-02-28
supersedes: [notes/old-deploy]
sources: ["ci/deploy.toml@0123abcd:3-9", "https://example.org/deploys"]
verified: [{by: ada, at: 2026-01-10}]
---

Only the people in `ci/deploy.toml` may deploy.'
run write reference/ci-copy --type reference --description 'How CI runs' 'CI runs on every push. The cache is in `ci/cache.toml`. See [[notes/deploy]].'
run write reference/ideas '# Ideas'
dir="$home/.claude/projects/-shop"
mkdir -p "$dir"
at() { date -u -d "$1 minutes ago" +%FT%TZ; }
cat > "$dir/1af7fc5e-8455.jsonl" <<CHAT
{"type":"user","cwd":"$PWD","gitBranch":"main","uuid":"u1","timestamp":"$(at 130)","message":{"role":"user","content":"Why is the login slow? Please remember that we never deploy on a Friday."}}
{"type":"assistant","uuid":"a1","timestamp":"$(at 129)","message":{"id":"m1","content":[{"type":"text","text":"It hashes the password twice: once in \`login.rs\` and once in the middleware."}]}}
{"type":"user","uuid":"u2","timestamp":"$(at 128)","message":{"role":"user","content":"Fix it, but do not touch the middleware."}}
{"type":"assistant","uuid":"a2","timestamp":"$(at 127)","message":{"id":"m2","content":[{"type":"text","text":"Done. The login takes 80 ms instead of 160 ms."}]}}
CHAT
run chats on
run chats sync
run dream
