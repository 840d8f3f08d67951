// The long plays of the compose files on a real Docker engine: `npm run containers`. Elsewhere they say that they were left out.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { blocksOf } from '../tools/newcomer/readme.ts'
import { root } from './testing/composeFile.ts'
import { agreesWith, targetOf } from './testing/engine/agreement.ts'
import { type Engine, usableEngine } from './testing/engine/engine.ts'
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

t.setTimeout(timeoutMs)
const engine =
  process.env.CONTAINERS === 'all'
    ? await usableEngine(t, (started) => loadStandIns(started, (line) => t.comment(line)))
    : 'only npm run containers plays it'
if (typeof engine === 'string') {
  const skip = `NOT TESTED: ${engine}: upgrade from 1.0.0 and back, changed passwords, ten minutes of load within the limits of memory`
  t.test('containers', { skip }, () => undefined)
} else {
  await t.test('an upgrade from 1.0.0 and the way back lose and double nothing', { timeout: timeoutMs }, (t) =>
    upgradesAndBack(t, engine),
  )
  await t.test(
    'passwords are changed as documented, and ten minutes of load stay within the limits',
    { timeout: timeoutMs },
    (t) => changesPasswordsAndSoaks(t, engine),
  )
  const { KURRENTDB_NODE: node, DOTNET_ROOT: dotnet } = process.env
  await t.test(
    'the small form takes payments within 1 GiB and loses nothing when each container is killed',
    { timeout: timeoutMs },
    (t) => smallForm(t, engine),
  )
  if (node === undefined || dotnet === undefined)
    t.comment(
      'NOT TESTED: KURRENTDB_NODE and DOTNET_ROOT name no node that was built from source: the compose files with KurrentDB, ' +
        'and the move from the small form to the large one',
    )
  else {
    await t.test('one node of KurrentDB over TLS takes payments as documented', { timeout: timeoutMs }, async (t) => {
      await loadKurrentDb(engine, node, dotnet)
      await paysOnKurrentDb(t, engine, [], ['eventstore'])
    })
    await t.test(
      'the small form moves to the large one, which loses nothing and sends nothing again',
      { timeout: timeoutMs },
      (t) => movesToLarge(t, engine),
    )
    await t.test('three nodes of KurrentDB lose and double nothing when each is killed', { timeout: timeoutMs }, (t) =>
      paysOnKurrentDb(t, engine, ['docker-compose.cluster.yml'], ['eventstore', 'eventstore-2', 'eventstore-3']),
    )
  }
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

  await pause(soakMs)
  await ledger.stop()
  for (const { name, service } of (await stack.containers()).filter(isOfPaylog)) {
    const [killed, restarts, limit] = await inspect(
      engine,
      name,
      '{{.State.OOMKilled}} {{.RestartCount}} {{.HostConfig.Memory}}',
    )
    t.same([killed, restarts], ['false', '0'], `${service} ran through`)
    const used = await engine.docker('stats', '--no-stream', '--format', '{{.MemUsage}} {{.MemPerc}}', name)
    t.comment(`${service}: ${used.trim()}`)
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
  await ledger.stop()
  await agreesWith(t, stack, ledger)
}

const smallServices = ['postgres', 'projector', 'api', 'worker', 'edge']
const small = ['docker-compose.small.yml', 'docker-compose.small-trial.yml', 'docker-compose.receiver.yml']
const withKurrentDb = ['docker-compose.yml', 'docker-compose.trial.yml', 'docker-compose.receiver.yml']

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
  const memory: string[] = []
  for (const { name, service } of (await stack.containers()).filter(isOfPaylog)) {
    const [killed, limit] = await inspect(engine, name, '{{.State.OOMKilled}} {{.HostConfig.Memory}}')
    t.equal(killed, 'false', `${service} has enough memory of ${limit}`)
    memory.push(`${service} ${(await engine.docker('stats', '--no-stream', '--format', '{{.MemUsage}}', name)).trim()}`)
  }
  t.comment(`MEASURED: memory of the small form: ${memory.join(', ')}`)
  const sessions = await stack.psql("select count(*) from pg_stat_activity where backend_type = 'client backend'")
  t.comment(`MEASURED: ${Number(sessions) - 1} sessions of Postgres`)
  t.ok(Number(sessions) - 1 <= 25, sessions)
  for (const killed of [...smallServices.map((name) => [name]), smallServices]) {
    const before = ledger.paid.size
    await stack.kill(...killed)
    await waitFor(() => ledger.paid.size > before + 3, { what: `payments after ${killed}`, timeoutMs: 180_000 })
  }
  await ledger.stop()
  await stack.healthy()
  await agreesWith(t, stack, ledger)
}

const inspect = async (engine: Engine, name: string, format: string) =>
  (await engine.docker('inspect', '--format', format, name)).trim().split(' ')

async function movesToLarge(t: Test, engine: Engine) {
  const stack = await prepareLarge(t, engine, 'move', { files: withKurrentDb })
  await startSmall(stack)
  const before = startLedger(targetOf(stack))
  await waitFor(() => before.paid.size > 20, { what: 'payments' })
  await before.stop()
  await agreesWith(t, stack, before)
  const sent = await stack.compose('logs', '--no-color', 'receiver')

  const [commands = ''] = blocksOf(readFileSync(join(root, 'docs/deployment.md'), 'utf8'))
    .filter(({ heading }) => heading === 'Move to the large form')
    .map(({ text }) => text.replaceAll('run --rm', 'run --rm -T'))
  t.match(await stack.shell(commands), /The log is proven up to position/)
  await stack.healthy()
  await agreesWith(t, stack, before)
  t.equal(await stack.compose('logs', '--no-color', 'receiver'), sent, 'no webhook is sent again')
  const after = startLedger(targetOf(stack))
  await waitFor(() => after.paid.size > 20, { what: 'payments in the large form' })
  await after.stop()
  await agreesWith(t, stack, after)
}
