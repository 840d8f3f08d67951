// Runs before every npm script, on whatever Node the machine has: installs what the lock file names and node_modules lacks.
// Without dependencies, since it is what brings them; silent when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const oldestNode = 20
const pinnedNode = 24
const lockLookMs = 200

const root = fileURLToPath(new URL('..', import.meta.url))
const lockFile = `${root}.installing`
const pinnedProgram = `${root}node_modules/.bin/node`
const tapProgram = `${root}node_modules/tap/dist/esm/run.mjs`
const tapBuild = `${root}node_modules/@tapjs/test/test-built/dist/esm/index.js`

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  refuse(`Paylog needs Node ${oldestNode} or newer to install itself; this is ${process.versions.node}.`)
}
if (!isInstalled() || !hasPinnedNode() || !hasBuiltTap()) withLock(install)

function install() {
  // Whoever held the lock before may have done it all.
  if (!isInstalled()) {
    say('Installing packages (the first start, or the lock file changed) ...')
    const startedAt = Date.now()
    // No package runs a program of its own: npm 10 knows nothing of allowScripts. The one that is needed comes below.
    npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
    say(`Installed packages in ${Math.round((Date.now() - startedAt) / 1000)} s.`)
  }
  if (!hasPinnedNode()) {
    say(`Installing Node ${pinnedNode} ...`)
    npm(['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error'])
  }
  if (!hasPinnedNode()) {
    refuse(`node_modules/.bin/node is not a working Node ${pinnedNode}. Delete node_modules and run the command again.`)
  }
  if (!hasBuiltTap()) run(pinnedProgram, [tapProgram, 'build'], 'tap build')
}

// npm writes its own record of what it installed last of all, so an interrupted installation has none.
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json')
  if (installed === undefined) return false
  return Object.entries(readPackages('package-lock.json') ?? {}).every(([path, wanted]) => {
    // Optional packages may be for another platform; the rest is ours to have.
    if (path === '' || wanted.optional || wanted.peer || wanted.devOptional) return true
    const present = installed[path]
    return present !== undefined && present.version === wanted.version && present.integrity === wanted.integrity
  })
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(root + file, 'utf8')).packages
  } catch {
    return undefined
  }
}

function hasPinnedNode() {
  const { stdout } = spawnSync(pinnedProgram, ['--version'], { encoding: 'utf8' })
  return stdout?.startsWith(`v${pinnedNode}.`) === true
}

// tap makes its test class out of the plugins it is configured with. As it comes, that class has the TypeScript plugin, which
// package.json switches off; tap would rebuild it in the middle of the first run, and fail.
function hasBuiltTap() {
  if (!existsSync(tapProgram)) return true
  return existsSync(tapBuild) && !readFileSync(tapBuild, 'utf8').includes('"@tapjs/typescript"')
}

function npm(args) {
  // Under npm the variables name its own program and the Node that runs it. That Node is not the one in node_modules,
  // which is about to be replaced.
  const { npm_execpath: program, npm_node_execpath: node = process.execPath } = process.env
  const [command, ...rest] = program?.endsWith('.js') ? [node, program, ...args] : ['npm', ...args]
  run(command, rest, `npm ${args[0]}`)
}

function run(command, args, name) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (error?.code === 'ENOENT') refuse(`Paylog needs ${command} to install itself, and there is none on this machine.`)
  if (status === 0) return
  process.stderr.write(`${stdout}${stderr}`)
  refuse(`${name} failed; what it said is above.`)
}

// Two commands that are started together must not install over each other.
function withLock(work) {
  for (let attempt = 0; !takeLock(); attempt += 1) {
    if (attempt === 0) say('Another command is installing packages; waiting for it ...')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockLookMs)
  }
  // Given back however this process ends; the lock of one that was killed names a process that is gone.
  process.on('exit', () => rmSync(lockFile, { force: true }))
  work()
}

function takeLock() {
  const mine = `${lockFile}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  try {
    // A link appears at once and with its content, or not at all.
    linkSync(mine, lockFile)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    removeStaleLock()
    return false
  } finally {
    rmSync(mine, { force: true })
  }
}

function removeStaleLock() {
  const holder = readHolder(lockFile)
  if (holder === undefined || isAlive(holder)) return
  const removed = `${lockFile}.stale.${process.pid}`
  try {
    renameSync(lockFile, removed)
    // Another waiter may have been faster and its fresh lock be what was moved: it goes back.
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

function say(line) {
  process.stderr.write(`${line}\n`)
}

function refuse(line) {
  say(line)
  process.exit(1)
}
