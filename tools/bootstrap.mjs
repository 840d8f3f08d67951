// Runs before the npm scripts, on the machine's own Node. Installs the missing packages of the lock file: those for
// production and, with the argument `dev`, those for development. It has no dependencies, because it installs them, and
// is silent when nothing is missing.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const oldestNode = 20
const lockPollMs = 200
const progressMs = 5_000
const terminalProgressMs = 500

const root = fileURLToPath(new URL('..', import.meta.url))
const lockFile = `${root}.installing`
const pinnedProgram = `${root}node_modules/.bin/node`
const tapProgram = `${root}node_modules/tap/dist/esm/run.mjs`
const tapBuild = `${root}node_modules/@tapjs/test/test-built/dist/esm/index.js`
const forDevelopment = process.argv[2] === 'dev'

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  fail(`Paylog needs Node ${oldestNode} or newer to install itself; this is ${process.versions.node}.`)
}
const [, nodeMajor, nodeMinor] = /(\d+)\.(\d+)/.exec(readJson('package.json').dependencies.node).map(Number)
if (!isInstalled(forDevelopment) || !hasNode() || (forDevelopment && !hasBuiltTap())) await withLock(install)

async function install() {
  // Another process may have installed everything before this one got the lock.
  if (!isInstalled(forDevelopment)) await installPackages()
  if (!hasNode()) {
    print(`Installing Node ${nodeMajor} ...`)
    await npm(['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error'])
    // `bin/node` is a link to the program in there; the rest is its headers for C++, 67 MB.
    if (hasNode()) rmSync(`${root}node_modules/node/node_modules`, { recursive: true, force: true })
  }
  if (!hasNode()) {
    fail(`node_modules/.bin/node is not a working Node ${nodeMajor}. Delete node_modules and run the command again.`)
  }
  if (forDevelopment && !hasBuiltTap()) {
    await run(existsSync(pinnedProgram) ? pinnedProgram : process.execPath, [tapProgram, 'build'], 'tap build')
  }
}

async function installPackages() {
  // No install script runs here, because npm 10 ignores allowScripts. Only Node's is needed, and it runs later.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const startedAt = Date.now()
  if (isInstalled(false)) {
    print('Installing the packages for development ...')
    // Adds to node_modules and replaces nothing in it, so a running `npm start` continues. `npm ci` would delete it.
    await npm(['install', '--no-save', '--include=dev', ...options], packageProgress(true))
  } else {
    print('Installing packages (the first start, or the lock file changed) ...')
    // Keeps installed packages for development.
    const withDev = forDevelopment || hasDevelopmentPackages()
    await npm(['ci', withDev ? '--include=dev' : '--omit=dev', ...options], packageProgress(withDev))
  }
  print(`Installed packages in ${secondsSince(startedAt)} s.`)
}

// npm writes this record last, so an interrupted installation has none.
function isInstalled(withDev) {
  const installed = readPackages('node_modules/.package-lock.json')
  if (installed === undefined) return false
  return wantedPackages(withDev).every(([path, wanted]) => {
    const present = installed[path]
    return present !== undefined && present.version === wanted.version && present.integrity === wanted.integrity
  })
}

function hasDevelopmentPackages() {
  const installed = readPackages('node_modules/.package-lock.json') ?? {}
  return Object.values(installed).some(({ dev }) => dev)
}

// Without our own workspaces, which change without an installation, and without optional packages, which may be for
// another platform.
function wantedPackages(withDev) {
  return Object.entries(readPackages('package-lock.json') ?? {}).filter(
    ([path, { optional, peer, devOptional, dev }]) =>
      path.includes('node_modules/') && !optional && !peer && !devOptional && (withDev || !dev),
  )
}

function readPackages(file) {
  return readJson(file)?.packages
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(root + file, 'utf8'))
  } catch {
    return undefined
  }
}

// npm puts node_modules/.bin first in the PATH of its scripts, so a Node there also runs this script.
function hasNode() {
  // `npm ci` may have deleted the program of this process.
  if (isNeededNode(process.versions.node) && existsSync(process.execPath)) return true
  const { stdout } = spawnSync(pinnedProgram, ['--version'], { encoding: 'utf8' })
  return isNeededNode(stdout ?? '')
}

// The tested major version, and at least the minor version in package.json.
function isNeededNode(version) {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version)?.map(Number) ?? []
  return major === nodeMajor && minor >= nodeMinor
}

/** @returns a function that describes how many packages are unpacked */
function packageProgress(withDev) {
  const places = wantedPackages(withDev).flatMap(([path, { link }]) => (link ? [] : [`${root}${path}/package.json`]))
  return () => `${places.filter((place) => existsSync(place)).length} of ${places.length} packages`
}

// tap generates its test class from its plugins. The shipped class has the TypeScript plugin, which package.json
// disables; tap would rebuild it during the first run, and fail.
function hasBuiltTap() {
  if (!existsSync(tapProgram)) return true
  return existsSync(tapBuild) && !readFileSync(tapBuild, 'utf8').includes('"@tapjs/typescript"')
}

async function npm(args, progress) {
  // npm sets these variables to its own program and the Node that runs it. That Node is not the one in node_modules,
  // which may be replaced.
  const { npm_execpath: program, npm_node_execpath: node = process.execPath } = process.env
  const [command, ...rest] = program?.endsWith('.js') ? [node, program, ...args] : ['npm', ...args]
  await run(command, rest, `npm ${args[0]}`, progress)
}

async function run(command, args, name, progress = () => name) {
  const startedAt = Date.now()
  const { isTTY } = process.stderr
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  // Stops npm first, so that the lock is not released while npm still writes.
  let endedBy
  const end = (signal) => {
    endedBy = signal
    child.kill(signal)
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  const timer = setInterval(
    () => {
      const line = `  ${progress()}, ${secondsSince(startedAt)} s`
      process.stderr.write(isTTY ? `\r\x1b[K${line}` : `${line}\n`)
    },
    isTTY ? terminalProgressMs : progressMs,
  )
  const { status, error } = await new Promise((resolve) => {
    child.on('error', (error) => resolve({ error })).on('close', (status) => resolve({ status }))
  })
  clearInterval(timer)
  process.off('SIGINT', end).off('SIGTERM', end)
  if (isTTY) process.stderr.write('\r\x1b[K')
  if (endedBy !== undefined) process.exit(128 + constants.signals[endedBy])
  if (error?.code === 'ENOENT') fail(`Paylog needs ${command} to install itself, but it was not found on this machine.`)
  if (status === 0) return
  process.stderr.write(Buffer.concat(output))
  fail(`${name} failed${error === undefined ? '; its output is above' : `: ${error.message}`}.`)
}

function secondsSince(startedAt) {
  return Math.round((Date.now() - startedAt) / 1000)
}

// Commands that start together must not install concurrently.
async function withLock(work) {
  for (let attempt = 0; !takeLock(); attempt += 1) {
    if (attempt === 0) print('Another command is installing packages; waiting for it ...')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPollMs)
  }
  // Released when this process exits. A killed process leaves a stale lock with its id.
  process.on('exit', () => rmSync(lockFile, { force: true }))
  await work()
}

function takeLock() {
  const draft = `${lockFile}.${process.pid}`
  writeFileSync(draft, String(process.pid))
  try {
    // Creating a link is atomic, content included.
    linkSync(draft, lockFile)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    removeStaleLock()
    return false
  } finally {
    rmSync(draft, { force: true })
  }
}

function removeStaleLock() {
  const holder = readHolder(lockFile)
  if (holder === undefined || isAlive(holder)) return
  const removed = `${lockFile}.stale.${process.pid}`
  try {
    renameSync(lockFile, removed)
    // If another process took the lock meanwhile, its lock was moved: restore it.
    if (readHolder(removed) !== holder && !existsSync(lockFile)) linkSync(removed, lockFile)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  rmSync(removed, { force: true })
}

function readHolder(file) {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function print(line) {
  process.stderr.write(`${line}\n`)
}

function fail(line) {
  print(line)
  process.exit(1)
}
