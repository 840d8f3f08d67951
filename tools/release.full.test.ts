// `npm run release` in a repository with one commit of these files. A program in place of `docker` records its arguments.
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import t from 'tap'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'paylog-release-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const clone = join(folder, 'clone')
const isMade = (path: string) => /(^|\/)(node_modules|\.git|\.tap|\.data|dist|release)$/.test(relative(root, path))
cpSync(root, clone, { recursive: true, filter: (path) => !isMade(path) })
symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))

const run = (program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(program, args, { cwd: clone, env: { ...process.env, NODE_OPTIONS: '', ...env } })
const noEngine = { DOCKER_HOST: `unix://${folder}/none.sock` }
const release = (args: readonly string[], env: Readonly<Record<string, string>> = noEngine) =>
  run(process.execPath, ['tools/release.ts', ...args], env)

await run('git', ['init', '--quiet'])
writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n')
await run('git', ['add', '--all'])
await run('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '-m', 'all'])

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const tarball = `paylog-client-${version}.tgz`
const image = `paylog-image-${version}.tar.gz`

t.test('a release without an image has the client and notes, whose sums are right and the same again', async (t) => {
  await release(['--without-image'])
  const first = join(clone, 'release')
  t.same(readdirSync(first).sort(), ['NOTES.md', 'SHA256SUMS', tarball])
  t.equal((await run('sh', ['-c', 'cd release && sha256sum -c SHA256SUMS'])).stdout.match(/: OK$/gm)?.length, 2)
  t.match(
    readFileSync(join(first, 'NOTES.md'), 'utf8'),
    new RegExp(`^# Paylog ${version}.*\\n\\nCommit \\w{40}\\n\\n###`),
  )
  const second = join(folder, 'second')
  await release(['--without-image', second])
  t.equal(readFileSync(join(second, 'SHA256SUMS'), 'utf8'), readFileSync(join(first, 'SHA256SUMS'), 'utf8'))
})

t.test(
  'a release with an engine has the image, built from these files, and the bills of materials that are in it',
  async (t) => {
    const calls = join(folder, 'calls')
    const fake = `#!/bin/sh\necho "$@" >> ${calls}\n[ "$1" != save ] || echo image\n[ "$1" != run ] || echo "bill $8"\n`
    writeFileSync(join(folder, 'docker'), fake, { mode: 0o755 })
    const withImage = join(folder, 'with-image')
    await release([withImage], { PATH: `${folder}:${process.env.PATH}` })
    t.equal(gunzipSync(readFileSync(join(withImage, image))).toString(), 'image\n')
    t.match(readFileSync(join(withImage, 'SHA256SUMS'), 'utf8'), image)
    for (const name of ['sbom.cdx.json', 'console.cdx.json'])
      t.equal(readFileSync(join(withImage, name), 'utf8'), `bill ${name}\n`)
    const [info, build, , , save] = readFileSync(calls, 'utf8').split('\n')
    t.same([info, save], ['info', `save paylog:${version}`])
    t.match(build, new RegExp(`^build --tag paylog:${version} .*revision=\\w{40} .*${clone}/$`))
  },
)

t.test('a build of the image that fails leaves no part of a release', async (t) => {
  writeFileSync(join(folder, 'docker'), '#!/bin/sh\n[ "$1" != build ]\n', { mode: 0o755 })
  const failure = { code: 1, stdout: '', stderr: 'docker build ended with 1.\n' }
  await t.rejects(release([join(folder, 'failed')], { PATH: `${folder}:${process.env.PATH}` }), failure)
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('failed')),
    [],
  )
})

t.test('without an engine, in a folder with files or with uncommitted changes nothing is written', async (t) => {
  const none = join(folder, 'none')
  const failure = { code: 1, stdout: '' }
  const noImage = /^No Docker engine is reachable, so the image is missing: .* --without-image\.\n$/
  await t.rejects(release([none]), { ...failure, stderr: noImage })
  await t.rejects(release(['--without-image']), { ...failure, stderr: / is not empty\.\n$/ })
  writeFileSync(join(clone, 'more.txt'), '')
  await t.rejects(release(['--without-image', none]), { ...failure, stderr: /^The worktree has changes .*\n$/ })
  t.notOk(existsSync(none))
})
