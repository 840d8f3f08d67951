// pinImages.sh with a fake docker command.
import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { root } from './testing/composeFile.ts'

const run = promisify(execFile)

/** The digest of an image is computed from its name and version. */
const docker = `#!/bin/sh
case "$*" in
  'pull --quiet absent'*) echo 'no such image' >&2 && exit 1 ;;
  'pull --quiet '*) exit 0 ;;
esac
for image; do :; done
echo "mirror.example.com/other@sha256:ffff"
echo "\${image%:*}@sha256:$(printf %s "$image" | od -An -tx1 | tr -d ' \\n')"
`

function pinning(t: Test, env = '') {
  const directory = t.testdir({ docker, env, 'a clone': t.fixture('symlink', root) })
  chmodSync(join(directory, 'docker'), 0o755)
  const file = join(directory, 'env')
  writeFileSync(file, env)
  const options = { env: { PATH: `${directory}:${process.env.PATH}`, PAYLOG_ENV_FILE: file } }
  return {
    pin: (...args: string[]) => run(join(directory, 'a clone', 'deploy', 'pinImages.sh'), args, options),
    lines: () => readFileSync(file, 'utf8').trimEnd().split('\n'),
  }
}

const pinned = (image: string) => `${image}@sha256:${Buffer.from(image).toString('hex')}`
const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
const ofCompose = (name: string) => new RegExp(`\\$\\{${name}:-([^}]+)\\}`).exec(compose)?.[1] ?? ''

t.test('pinImages.sh writes every image into .env by digest and keeps the other lines', async (t) => {
  const { pin, lines } = pinning(t, 'AUTH_URL=https://a.example.com/?b c\n#REDIS_IMAGE=x\n')
  await pin()
  t.same(lines().slice(0, 2), ['AUTH_URL=https://a.example.com/?b c', '#REDIS_IMAGE=x'])
  const names = ['CADDY', 'EVENTSTORE', 'NODE', 'POSTGRES', 'REDIS'].map((name) => `${name}_IMAGE`)
  t.same(
    lines()
      .slice(2)
      .map((line) => line.split('=')[0]),
    names,
  )
  t.ok(lines().includes(`POSTGRES_IMAGE=${pinned(ofCompose('POSTGRES_IMAGE'))}`))
})

t.test('an image upgraded by its new version stays upgraded', async (t) => {
  const { pin, lines } = pinning(t)
  await pin()
  await pin('POSTGRES_IMAGE=postgres:17.99', 'REDIS_IMAGE=redis:7.4.99@sha256:0000')
  await pin()
  t.ok(lines().includes(`POSTGRES_IMAGE=${pinned('postgres:17.99')}`))
  t.ok(lines().includes(`REDIS_IMAGE=${pinned('redis:7.4.99')}`))
  t.equal(lines().length, 5, 'each image has one line')
})

t.test('an unknown image, and one that Docker cannot pull, leave .env unchanged', async (t) => {
  const { pin, lines } = pinning(t, 'A=b\n')
  await t.rejects(pin('MYSQL_IMAGE=mysql:1.1'), {
    code: 2,
    stderr: /^MYSQL_IMAGE=mysql:1\.1: name one of CADDY_IMAGE /,
  })
  await t.rejects(pin('CADDY_IMAGE=absent:1.0'), { code: 1, stderr: /no such image/ })
  t.same(lines(), ['A=b'])
})
