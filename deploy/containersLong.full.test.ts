// The long plays of the compose files on a real Docker engine: `npm run containers`. Elsewhere they say that they were left out.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { blocksOf, commandsOf } from '../tools/newcomer/readme.ts'
import { root } from './testing/composeFile.ts'
import { agreesWith, messagesOf, survivesKills, targetOf } from './testing/engine/agreement.ts'
import { type Engine, output, startEngine, usableEngine } from './testing/engine/engine.ts'
import { makeSecrets, prepareLarge, writeEndpoint } from './testing/engine/largeStack.ts'
import { type ContainerState, type Stack, secretOf } from './testing/engine/stack.ts'
import { loadKurrentDb, loadStandIns } from './testing/engine/standIns.ts'
import { startLedger } from './testing/ledger.ts'

const timeoutMs = 7_200_000
const soakMs = Number(process.env.CONTAINERS_SOAK_MINUTES ?? 10) * 60_000
/** The commit of 1.0.0. */
const released = '4289c060'
/** Of an upgrade, as docs/deployment.md says. */
const order = ['projector', 'worker', 'query-api', 'command-api', 'operator-api']

const smallServices = ['postgres', 'projector', 'api', 'worker', 'edge']
const small = ['docker-compose.small.yml', 'docker-compose.small-trial.yml', 'docker-compose.receiver.yml']
const withKurrentDb = ['docker-compose.yml', 'docker-compose.trial.yml', 'docker-compose.receiver.yml']
const inspect = async (engine: Engine, name: string, format: string) =>
  (await engine.docker('inspect', '--format', format, name)).trim().split(' ')

async function memoryOf(engine: Engine, { name, service }: Pick<ContainerState, 'name' | 'service'>): Promise<string> {
  return `${service} ${(await engine.docker('stats', '--no-stream', '--format', '{{.MemUsage}}', name)).trim()}`
}

/** By the name with which CONTAINERS selects it; the last three need a node of KurrentDB that was built from source. */
const plays: Readonly<Record<string, readonly [title: string, play: (t: Test, engine: Engine) => Promise<void>]>> = {
  upgrade: ['an upgrade from 1.0.0 and the way back lose and double nothing', upgradesAndBack],
  soak: [
    'passwords are changed as documented, and ten minutes of load stay within the limits',
    changesPasswordsAndSoaks,
  ],
  release: ['the image of a release starts on an engine that has nothing else', releases],
  small: ['the small form takes payments within 1 GiB and loses nothing when each container is killed', smallForm],
  node: [
    'one node of KurrentDB over TLS takes payments as documented',
    (t, engine) => paysOnKurrentDb(t, engine, [], ['eventstore']),
  ],
  move: ['the small form moves to the large one, which loses nothing and sends nothing again', movesToLarge],
  cluster: [
    'three nodes of KurrentDB lose and double nothing when each is killed',
    (t, engine) =>
      paysOnKurrentDb(t, engine, ['docker-compose.cluster.yml'], ['eventstore', 'eventstore-2', 'eventstore-3']),
  ],
}
const onKurrentDb = ['node', 'move', 'cluster']
const { CONTAINERS: chosen = '', KURRENTDB_NODE: node, DOTNET_ROOT: dotnet } = process.env
const names = Object.keys(plays).filter((name) => chosen === 'all' || chosen.split(',').includes(name))

t.setTimeout(timeoutMs)
const engine =
  names.length > 0
    ? await usableEngine(t, (started) => loadStandIns(started, (line) => t.comment(line)))
    : 'only npm run containers plays it'
if (typeof engine === 'string')
  t.test('containers', { skip: `NOT TESTED: ${engine}: ${Object.keys(plays)}` }, () => undefined)
else {
  const hasNode = node !== undefined && dotnet !== undefined
  if (hasNode && names.some((name) => onKurrentDb.includes(name))) await loadKurrentDb(engine, node, dotnet)
  for (const name of names) {
    const [title, play] = plays[name] ?? []
    if (title === undefined || play === undefined) continue
    const without = onKurrentDb.includes(name) && !hasNode
    const skip = without && 'NOT TESTED: KURRENTDB_NODE and DOTNET_ROOT name no node of KurrentDB'
    await t.test(title, { timeout: timeoutMs, skip }, (t) => play(t, engine))
  }
}

/** The image of `npm run release`, on an engine that has nothing else. */
async function releases(t: Test, engine: Engine) {
  const { directory } = await prepareLarge(t, engine, 'release')
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: directory })
  git('init', '--quiet')
  writeFileSync(join(directory, '.git/info/exclude'), 'node_modules\n')
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  git('add', '--all')
  git('commit', '--quiet', '--message', 'all')
  // The engine has no bridge to the outside: what needs one is taken from this build.
  await output('docker', ['build', '--network', 'host', '.'], engine.env, directory)
  const folder = join(directory, '../released-files')
  await output(process.execPath, ['tools/release.ts', folder], engine.env, directory)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const archive = `paylog-image-${version}.tar.gz`
  const sums = await output('sha256sum', ['-c', 'SHA256SUMS'], engine.env, folder)
  for (const name of [archive, 'sbom.cdx.json', 'NOTES.md']) t.match(sums, `${name}: OK`)

  const fresh = await startEngine(t)
  t.match(await fresh.docker('load', '--input', join(folder, archive)), `Loaded image: paylog:${version}`)
  const runs = ['run', '--network', 'none', '--read-only', '--cap-drop', 'ALL']
  t.match(await fresh.docker(...runs, '--rm', `paylog:${version}`), /migrate/, 'its command is the help of ops')
  const app = [
    ...runs,
    '--detach',
    '--name',
    'app',
    '--env',
    'PORT=8080',
    `paylog:${version}`,
    'apps/local/src/identity.ts',
  ]
  await fresh.docker(...app)
  const answers = "fetch('http://127.0.0.1:8080/').then(() => process.exit(0), () => process.exit(1))"
  const isUp = () =>
    fresh.docker('exec', 'app', 'node', '-e', answers).then(
      () => true,
      () => false,
    )
  await waitFor(isUp, { what: 'an app of the loaded image', timeoutMs: 60_000 })
  await fresh.docker('rm', '--force', 'app')
}

async function upgradesAndBack(t: Test, engine: Engine) {
  const before = join(engine.directory, 'released')
  mkdirSync(before)
  execFileSync('sh', ['-c', `git -c safe.directory='*' archive ${released} | tar -x -C '${before}'`], { cwd: root })
  execFileSync('git', ['init', '--quiet'], { cwd: before })
  const stack = await prepareLarge(t, engine, 'upgrade', { from: before })
  await build(stack)
  await makeSecrets(stack)
  await stack.compose('up', '--detach')
  await stack.healthy()
  const ledger = startLedger(targetOf(stack))
  await waitFor(() => ledger.paid.size > 10, { what: 'payments with 1.0.0' })

  await stack.replaceFiles(root)
  await stack.shell('docker tag paylog:latest paylog:before')
  await build(stack)
  await stack.compose('run', '--rm', '-T', 'migrate')
  for (const service of order) await step(t, stack, service)
  const upgraded = ledger.paid.size
  await stack.compose('up', '--detach')
  await waitFor(() => ledger.paid.size > upgraded + 10, { what: 'payments with the new version', timeoutMs: 120_000 })
  t.match(await stack.ops('audit', 'verify'), /The log is proven up to position/)

  stack.set({ PAYLOG_IMAGE: 'paylog:before' })
  // The tables have a newer schema version by now, which an old projector leaves as it is.
  for (const service of order.slice(1).toReversed()) await step(t, stack, service)
  const rolledBack = ledger.paid.size
  await waitFor(() => ledger.paid.size > rolledBack + 10, { what: 'payments with 1.0.0 again', timeoutMs: 120_000 })
  await ledger.stop()
  await agreesWith(t, stack, ledger)
}

async function build(stack: Stack): Promise<void> {
  await stack.shell('docker build --network host --tag paylog:latest .')
}

/** One service in another version, and the wait for it. */
async function step(t: Test, stack: Stack, service: string) {
  await stack.compose('up', '--detach', '--no-deps', service)
  const isHealthy = async () =>
    (await stack.containers()).some((each) => each.service === service && each.status.includes('(healthy)'))
  await waitFor(isHealthy, { what: `${service} to be healthy`, timeoutMs: 120_000 })
  t.pass(`${service} is healthy`)
}

/** Of a container that runs, and is not the webhook endpoint beside it. */
function isOfPaylog({ state, service }: ContainerState): boolean {
  return state === 'running' && service !== 'receiver'
}

async function changesPasswordsAndSoaks(t: Test, engine: Engine) {
  const stack = await prepareLarge(t, engine, 'soak')
  await build(stack)
  await makeSecrets(stack)
  await stack.compose('up', '--detach')
  await stack.healthy()
  const ledger = startLedger(targetOf(stack))
  await waitFor(() => ledger.paid.size > 5, { what: 'payments' })
  for (const name of ['redis_password', 'redis_acl', 'redis_url']) rmSync(join(stack.directory, 'deploy/secrets', name))
  await stack.shell('deploy/makeSecrets.sh')
  await stack.psql("alter role paylog password 'changed'")
  const changed = secretOf(stack, 'database_url').replace(/\/\/paylog:[^@]+@/, '//paylog:changed@')
  writeFileSync(join(stack.directory, 'deploy/secrets/database_url'), changed)
  await stack.compose('up', '--detach', '--force-recreate')
  const before = ledger.paid.size
  await waitFor(() => ledger.paid.size > before + 5, { what: 'payments after the change', timeoutMs: 180_000 })
  await stack.healthy()
  t.notMatch(
    await stack.compose('logs', '--no-color', 'redis'),
    'NOPERM',
    'Redis has read all transactions of its file',
  )

  await pause(soakMs)
  await ledger.stop()
  for (const { name, service } of (await stack.containers()).filter(isOfPaylog)) {
    const [killed, restarts, limit] = await inspect(
      engine,
      name,
      '{{.State.OOMKilled}} {{.RestartCount}} {{.HostConfig.Memory}}',
    )
    t.same([killed, restarts], ['false', '0'], `${service} ran through`)
    t.comment(await memoryOf(engine, { name, service }))
    t.ok(Number(limit) > 0)
  }
  await agreesWith(t, stack, ledger)
}

/** The compose files as they are: certificates, users and passwords of the event store too. */
async function paysOnKurrentDb(t: Test, engine: Engine, cluster: readonly string[], nodes: readonly string[]) {
  const files = ['docker-compose.yml', ...cluster, 'docker-compose.trial.yml', 'docker-compose.receiver.yml']
  const stack = await prepareLarge(t, engine, `nodes-${nodes.length}`, { files })
  await build(stack)
  await stack.shell(`EVENTSTORE_HOSTS=${nodes.map((name) => `${name}:2113`).join(',')} deploy/makeSecrets.sh`)
  writeEndpoint(stack)
  await stack.compose('up', '--detach')
  await stack.healthy()
  const ledger = startLedger(targetOf(stack))
  await waitFor(() => ledger.paid.size > 5, { what: 'payments' })
  for (const node of nodes) {
    const before = ledger.paid.size
    await stack.kill(node)
    await waitFor(() => ledger.paid.size > before + 5, {
      what: `payments after ${node} was killed`,
      timeoutMs: 180_000,
    })
    await stack.healthy()
  }
  for (const container of (await stack.containers()).filter(({ service }) => nodes.includes(service)))
    t.comment(`MEASURED: memory of KurrentDB: ${await memoryOf(engine, container)}`)
  await ledger.stop()
  await agreesWith(t, stack, ledger)
}

async function startSmall(stack: Stack): Promise<void> {
  await build(stack)
  await stack.shell('deploy/makeSecrets.sh')
  writeEndpoint(stack)
  await stack.compose(...small.flatMap((file) => ['--file', file]), 'up', '--detach')
  await stack.healthy()
}

async function smallForm(t: Test, engine: Engine) {
  const stack = await prepareLarge(t, engine, 'small', { files: small })
  await startSmall(stack)
  const ledger = startLedger(targetOf(stack))
  await waitFor(() => ledger.paid.size > 100, { what: 'payments', timeoutMs: 600_000 })
  const running = (await stack.containers()).filter(isOfPaylog)
  for (const { name, service } of running)
    t.same(await inspect(engine, name, '{{.State.OOMKilled}}'), ['false'], `${service} has enough memory`)
  const memory = await Promise.all(running.map((container) => memoryOf(engine, container)))
  t.comment(`MEASURED: memory of the small form: ${memory.join(', ')}`)
  const sessions = await stack.psql("select count(*) from pg_stat_activity where backend_type = 'client backend'")
  t.comment(`MEASURED: ${Number(sessions) - 1} sessions of Postgres`)
  t.ok(Number(sessions) - 1 <= 25, sessions)
  await ledger.stop()
  await agreesWith(t, stack, ledger)
  await survivesKills(t, stack, smallServices)
  t.match(await stack.ops('projections', 'list'), /payments/)
  t.match(await stack.ops('audit', 'verify'), /The log is proven up to position/)
}

async function movesToLarge(t: Test, engine: Engine) {
  const stack = await prepareLarge(t, engine, 'move', { files: withKurrentDb })
  await startSmall(stack)
  const before = startLedger(targetOf(stack))
  await waitFor(() => before.paid.size > 20, { what: 'payments' })
  await before.stop()
  await agreesWith(t, stack, before)
  const sent = await messagesOf(stack)

  const commands = blocksOf(readFileSync(join(root, 'docs/deployment.md'), 'utf8'))
    .filter(({ heading }) => heading === 'Move to the large form')
    .flatMap(commandsOf)
    .map((command) => command.replace('run --rm', 'run --rm -T'))
  await stack.shell(commands.slice(0, -1).join('\n'))
  await stack.healthy()
  await agreesWith(t, stack, before)
  t.same(await messagesOf(stack), sent, 'no webhook is sent again')
  const isProven = async () => {
    const said = await stack.shell(`${commands.at(-1)} || true`)
    return said.includes('The log is proven up to position')
  }
  await waitFor(isProven, { what: 'the proof of the moved log', timeoutMs: 180_000 })
  const after = startLedger(targetOf(stack))
  await waitFor(() => after.paid.size > 20, { what: 'payments in the large form' })
  await after.stop()
  await agreesWith(t, stack, after)
}
