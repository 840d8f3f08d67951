// What bootstrap.mjs has npm do in a fresh clone; npm itself is a stand-in that keeps its arguments.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const npm = `
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
const args = process.argv.slice(2)
appendFileSync('calls', JSON.stringify(args) + '\\n')
mkdirSync('node_modules/.bin', { recursive: true })
if (args[0] === 'ci') writeFileSync('node_modules/.package-lock.json', '{"packages":{}}')
if (args[0] === 'rebuild') symlinkSync(${JSON.stringify(process.execPath)}, 'node_modules/.bin/node')
`

t.test('a fresh clone is installed without running any install script but the one that brings Node', async (t) => {
  const clone = t.testdir({
    'npm.js': npm,
    'package.json': '{"type":"module"}',
    'package-lock.json': '{"packages":{}}',
  })
  mkdirSync(join(clone, 'tools'))
  copyFileSync(fileURLToPath(new URL('bootstrap.mjs', import.meta.url)), join(clone, 'tools', 'bootstrap.mjs'))
  const env = { PATH: process.env.PATH, npm_execpath: join(clone, 'npm.js') }
  execFileSync(process.execPath, ['tools/bootstrap.mjs'], { cwd: clone, env, stdio: 'ignore' })
  const calls = readFileSync(join(clone, 'calls'), 'utf8').trimEnd().split('\n')
  const [ci, rebuild, ...others] = calls.map((line): string[] => JSON.parse(line))
  t.match(ci, ['ci', '--ignore-scripts'])
  t.match(rebuild, ['rebuild', 'node'])
  t.same(others, [])
})
