// A worker stops at a log that is not its checkpoint's, and waits without a checkpoint, until `webhooks start` decides.
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

async function systemWithEndpoint(t: Test) {
  const harness = await webhooksHarness(t)
  const endpoint = await startFakeEndpoint(t, (response) => void response.end('ok'))
  const variables = { ...endpointVariables('1', endpoint.url), HEALTH_PORT: '0' }
  const ids = () => endpoint.received.map(({ id }) => String(id))
  return {
    ...harness,
    received: ids,
    startWorker: () => harness.startWorker(variables),
    arrived: (count: number) => waitFor(() => ids().length >= count, { what: `${count} webhooks` }),
    idsOf: () => harness.idsOf('1', variables),
  }
}

/** The checks of a worker's health page, once it is ready, or once it has stopped. */
async function checksWhen(state: 'ready' | 'stopped', worker: { readonly detail: Readonly<Record<string, unknown>> }) {
  return await waitFor(
    async () => {
      const response = await fetch(`${worker.detail.healthUrl}/health/ready`)
      const { checks } = (await response.json()) as { checks: Record<string, Record<string, unknown>> }
      return (
        (state === 'ready' ? response.status === 200 : checks.log?.stopped === true) && {
          ...checks,
          status: response.status,
        }
      )
    },
    { what: `the worker to be ${state}` },
  )
}

t.test('a log that is cut while the worker runs stops it, until webhooks start from a position', async (t) => {
  const system = await systemWithEndpoint(t)
  const worker = await system.startWorker()
  await system.pay(5)
  await system.arrived(5)
  await checksWhen('ready', worker)
  const before = await system.events()
  // The last payment loses its intent and then exists no more.
  await system.eventStore.cut(2)
  await system.pay(3)
  const checks = await checksWhen('stopped', worker)
  t.match(checks, { status: 503, log: { ok: false }, follow_ups: { ok: false, stopped: true } })
  t.match(worker.output(), /the worker has stopped/)
  t.match(worker.output(), /was cut, restored or replaced/)
  t.equal(system.received().length, 5, 'nothing is sent after the cut')

  const first = (await system.events()).find(({ id }) => !before.some((event) => event.id === id))
  const beyond = await system.run(['start', '--from', '99999999999'])
  t.match(beyond, { code: 1, stderr: /is after the end of the log/ })
  const started = await system.run(['start', '--from', String(first?.position.commit), '--json'])
  t.equal(started.code, 0, started.stderr)
  t.match(JSON.parse(started.stdout), { after: /^\d+$/, reads_follow_ups_again: true })
  await system.arrived(8)
  await checksWhen('ready', worker)
  const expected = await system.idsOf()
  t.same(new Set(system.received()), new Set([...system.received().slice(0, 5), ...expected]))
  t.equal(system.received().length, 8, 'nothing is sent twice')
})

t.test('a worker without a checkpoint waits when the log is not empty', async (t) => {
  const system = await systemWithEndpoint(t)
  await system.pay(3)
  await system.pool.query('delete from webhooks.checkpoints')
  const worker = await system.startWorker()
  t.match(await checksWhen('stopped', worker), { status: 503, log: { ok: false } })
  t.match(worker.output(), /nobody has decided where webhooks start/)
  const started = await system.run(['start', '--from', 'now'])
  t.match(started, { code: 0, stdout: /^Webhooks are created after position \d+, event / })
  await checksWhen('ready', worker)
  await system.pay(2)
  await system.arrived(2)
  t.equal((await system.events()).length, 10)
  t.same(new Set(system.received()), new Set((await system.idsOf()).slice(-2)), 'only what was recorded since')
})

t.test('webhooks that start from the beginning again send nothing twice', async (t) => {
  const system = await systemWithEndpoint(t)
  await system.startWorker()
  await system.pay(4)
  await system.arrived(4)
  t.match(await system.run(['start', '--from', '0']), {
    code: 0,
    stdout: 'Webhooks are created from the start of the log on.\n',
  })
  await system.pay(1)
  await system.arrived(5)
  t.same(system.received().toSorted(), (await system.idsOf()).toSorted())
})

t.test('webhooks start needs a position', async (t) => {
  const { run } = await webhooksHarness(t)
  t.match(await run(['start']), { code: 2, stderr: /--from is missing/ })
  t.match(await run(['start', '--from', 'yesterday']), { code: 2 })
})
