//! Near misses of *scar*: a failure that is followed by something else than another way to do the same.

use super::{
    super::{
        script::{Rng, ScriptEpisode, ScriptStep},
        words::{FILES, PARTS},
    },
    number,
};

/// A command that fails and the next call of the same program, which does something else: it looks, it does the next thing, it does
/// less, or it acts somewhere else.
const NOT_THE_SAME: &[(&str, &str)] = &[
    // Looking for the reason.
    ("git merge {}", "git log --oneline -5"),
    ("git rebase main", "git stash list"),
    ("cargo build", "cargo tree"),
    ("docker compose up -d {}", "docker compose logs {}"),
    ("kubectl rollout restart deploy/{}", "kubectl describe deploy/{}"),
    ("helm upgrade {} ./chart", "helm history {}"),
    ("systemctl restart {}", "systemctl status {}"),
    ("node server.js", "node -v"),
    ("ruby import.rb", "ruby --help"),
    ("yarn build", "yarn why {}"),
    ("gh release create v2", "gh release list"),
    ("ansible-playbook site.yml", "ansible-playbook site.yml --syntax-check"),
    ("pytest tests", "pytest tests --collect-only"),
    ("mvn test", "mvn dependency:tree"),
    ("curl http://localhost:8080/{}", "curl -v http://localhost:8080/{}"),
    ("psql shop", "psql --list"),
    // The next thing, or another target.
    ("npm run build", "npm run start"),
    ("cargo test", "cargo check"),
    ("make", "make clean"),
    ("make test", "make lint"),
    ("go build ./...", "go mod tidy"),
    ("bundle exec rake db:migrate", "bundle exec rake db:drop"),
    ("python migrate.py", "python seed.py"),
    ("ssh web1 uptime", "ssh web2 uptime"),
    ("scp {}.tgz prod:/srv", "scp {}.tgz staging:/srv"),
    ("kubectl apply -f {}.yaml --context prod", "kubectl apply -f {}.yaml --context dev"),
    ("aws s3 sync dist s3://shop-prod", "aws s3 sync dist s3://shop-dev"),
    ("terraform apply -var env=prod", "terraform apply -var env=dev"),
    ("git push origin main", "git push origin {}"),
    ("curl https://api.example.com/{}", "curl https://staging.example.com/{}"),
    // Less of the same.
    ("cargo test", "cargo test {}"),
    ("pytest", "pytest tests/unit"),
    ("pytest", "pytest -k {}"),
    ("go test ./...", "go test ./internal/{}"),
    ("npx jest", "npx jest --testPathIgnorePatterns {}"),
];

/// A command that fails and the same command without a check.
const SWITCHED_OFF: &[(&str, &str)] = &[
    ("git commit -am {}", "git commit -n -am {}"),
    ("git push", "git push --no-verify"),
    ("git push origin main", "git push -f origin main"),
    ("git pull", "git -c http.sslVerify=0 pull"),
    ("curl https://localhost/{}", "curl -k https://localhost/{}"),
    ("wget https://localhost/{}", "wget --no-check-certificate https://localhost/{}"),
    ("npm install", "npm install --force"),
    ("npm ci", "npm ci --ignore-scripts"),
    ("npm install", "npm install --strict-ssl=false"),
    ("npm test", "npm test -- --passWithNoTests"),
    ("pip install {}", "pip install --break-system-packages {}"),
    ("mvn package", "mvn package -DskipTests"),
    ("gradle build", "gradle build -x test"),
    ("cargo clippy -- -D warnings", "cargo clippy"),
    ("cargo publish", "cargo publish --allow-dirty"),
    ("cargo build --locked", "cargo build"),
    ("eslint src --max-warnings 0", "eslint src"),
    ("eslint src", "eslint src --quiet"),
    ("tsc --strict", "tsc"),
    ("mypy --strict src", "mypy src"),
    ("pytest -W error", "pytest"),
    ("pytest", "pytest --deselect tests/test_{}.py"),
    ("HUSKY=1 git commit -am {}", "HUSKY=0 git commit -am {}"),
    ("git commit -am {}", "SKIP=lint git commit -am {}"),
    ("node client.js", "NODE_TLS_REJECT_UNAUTHORIZED=0 node client.js"),
    ("apt-get install {}", "sudo apt-get install {}"),
    ("terraform apply", "terraform apply -lock=false"),
    ("kubectl delete pod {}", "kubectl delete pod {} --force"),
    ("helm install {} ./chart", "helm install {} ./chart --disable-openapi-validation"),
    ("ssh build@ci make", "ssh -o StrictHostKeyChecking=no build@ci make"),
];

pub(super) fn episodes(i: usize, rng: &mut Rng) -> Vec<ScriptEpisode> {
    let (part, n) = (rng.pick(PARTS), number(rng));
    let asked = || ScriptStep::person(format!("is everything fine with {part} {}?", n % 97));
    let edit =
        |rng: &mut Rng| ScriptStep::edit(rng.pick(FILES), &format!("let a = {};", number(rng)), &format!("let b = {};", number(rng)));
    let done = || ScriptStep::assistant("It works.");
    let tool = rng.pick(&["ninja", "gradle", "mvn", "bazel", "tox", "meson"]);
    let twice = |steps: &mut dyn FnMut() -> Vec<ScriptStep>| {
        (0..2).map(|_| ScriptEpisode::new([vec![asked()], steps(), vec![done()]].concat())).collect()
    };
    let pair = |(bad, good): (&str, &str)| {
        let (bad, good) = (bad.replace("{}", part), good.replace("{}", part));
        twice(&mut || vec![ScriptStep::fails(&bad, 1, "error: it failed"), ScriptStep::shell(&good, "ok")])
    };
    match i % 16 {
        // Retried unchanged after an edit.
        0 => {
            let command = format!("{tool} verify {part}");
            twice(&mut || vec![ScriptStep::fails(&command, 1, "1 failed"), edit(rng), ScriptStep::shell(&command, "ok")])
        }
        // Another invocation, but in one conversation only.
        1 => {
            let steps = vec![
                asked(),
                ScriptStep::fails(&format!("{tool} check{n}"), 1, "failed"),
                ScriptStep::shell(&format!("{tool} check{n} --jobs {n}"), "ok"),
                done(),
            ];
            vec![ScriptEpisode::new(steps)]
        }
        // Another program.
        2 => {
            let (bad, good) = (format!("{tool} ping{}", n % 7), format!("curl -s localhost/{part}"));
            twice(&mut || vec![ScriptStep::fails(&bad, 7, "connection refused"), ScriptStep::shell(&good, "pong")])
        }
        // Searches that find nothing.
        3 => twice(&mut || {
            vec![
                ScriptStep::fails(&format!("grep -rn {part}{n} src"), 1, ""),
                ScriptStep::shell(&format!("grep -rni {part} src lib"), "3: x"),
            ]
        }),
        // An edit is what helped.
        4 => {
            let bad = format!("{tool} compile-{part}");
            twice(&mut || {
                vec![ScriptStep::fails(&bad, 1, "error: expected `;`"), edit(rng), ScriptStep::shell(&format!("{bad} --quiet"), "ok")]
            })
        }
        // Another subcommand; the failed one works later.
        5 => {
            let (bad, other) = (format!("{tool} test-{part}"), format!("{tool} format-{part}"));
            twice(&mut || {
                vec![ScriptStep::fails(&bad, 1, "1 failed"), ScriptStep::shell(&other, ""), edit(rng), ScriptStep::shell(&bad, "ok")]
            })
        }
        // Hypothetical commands, and other operands.
        6 => twice(&mut || {
            vec![
                ScriptStep::fails(&format!("wc -l src/{part}/{n}.rs"), 1, "No such file or directory"),
                ScriptStep::shell(&format!("wc -l src/{part}.rs"), "12"),
                ScriptStep::person(format!("one could run {tool} --offline instead of {tool} for {part} {n}, but leave it")),
            ]
        }),
        7..=11 => pair(NOT_THE_SAME[(i / 16 * 5 + i % 16 - 7) % NOT_THE_SAME.len()]),
        _ => pair(SWITCHED_OFF[(i / 16 * 4 + i % 16 - 12) % SWITCHED_OFF.len()]),
    }
}
