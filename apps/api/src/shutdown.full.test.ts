import { randomUUID } from 'node:crypto'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { paymentsOnLog, startReplica, startReplicaBackends, warningsIn } from './testing/replicas.ts'

const headers = { 'x-session-id': 'demo-session', 'content-type': 'application/json' }
/** For tests in which an endpoint or a provider does not respond. */
const shortStop = { STOP_TIMEOUT: '2s' }

type LogLine = {
  readonly level: string
  readonly msg: string
  readonly left?: unknown
  readonly err?: { message: string }
}

const endpoint = await startFakeEndpoint(t, (response) => {
  if (isEndpointStuck) return
  response.end('ok')
})
let isEndpointStuck = false
const backends = await startReplicaBackends(t, { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url })
const { stripe, store } = backends

function pay(baseUrl: string, key?: string): Promise<Response> {
  return fetch(`${baseUrl}/payments/intents`, {
    method: 'POST',
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body: JSON.stringify({ total_cents: 1200, currency: 'EUR', provider_id: 'stripe' }),
  })
}
/** Repeats the request while a backend is not available, as on a busy machine. @returns how it ended */
async function payUntilAccepted(baseUrl: string, key: string): Promise<string> {
  for (;;) {
    const response = await pay(baseUrl, key).catch(() => undefined)
    if (response === undefined) return 'cut off'
    if (response.status !== 503) return `${response.status} ${await response.text()}`
  }
}
const idOf = async (response: Response) => ((await response.json()) as { data: { id: string } }).data.id
const made: string[] = []

/** Sends requests until the process accepts no connection. @returns the unexpected responses */
async function requestUntilStopped(act: () => Promise<Response>, isExpected: (response: Response) => Promise<boolean>) {
  const bad: string[] = []
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (;;) {
        const response = await act().catch(() => undefined)
        if (response === undefined) return
        if (!(await isExpected(response))) bad.push(`${response.status}`)
      }
    }),
  )
  return bad
}

t.test('an api that stops under load responds to every accepted request and loses or duplicates nothing', async (t) => {
  stripe.faults.always({ kind: 'slow', ms: 100 })
  const api = await startReplica(t, backends, 'api')
  const paying = requestUntilStopped(
    () => pay(api.baseUrl),
    async (response) => {
      if (response.status !== 201) return false
      made.push(await idOf(response))
      return true
    },
  )
  const reading = requestUntilStopped(
    () => fetch(`${api.baseUrl}/payments?limit=5`, { headers }),
    async (response) => response.status === 200 && (await response.text()).includes('"success":true'),
  )
  await waitFor(() => made.length > 20, { what: 'load', timeoutMs: 20_000 })
  await api.process().stop()
  t.strictSame(await api.process().exited, { code: 0, signal: null })
  t.strictSame(warningsIn(api.process().output()), [])
  t.strictSame(await paying, [], 'every payment request succeeded')
  t.strictSame(await reading, [])
  const payments = await paymentsOnLog(store)
  t.strictSame([...payments.keys()].sort(), made.toSorted(), 'the log has exactly the acknowledged payments')
  for (const types of new Set([...payments.values()].map(String)))
    t.equal(types, 'PaymentInitiated,ProviderIntentCreated')
  const intents = stripe.intents().map(({ metadata }) => metadata.payment_id)
  t.strictSame(intents.toSorted(), made.toSorted(), 'each payment has one intent')
})

t.test('command-api stops while a provider hangs, and logs the request that is left', async (t) => {
  const api = await startReplica(t, backends, 'command-api', shortStop)
  stripe.faults.always({ kind: 'hang', commits: true })
  const before = stripe.calls.length
  const key = randomUUID()
  const request = payUntilAccepted(api.baseUrl, key)
  const called = waitFor(() => stripe.calls.length > before && 'called', { what: 'the call' })
  t.equal(await Promise.race([called, request]), 'called')
  await api.process().stop()
  t.strictSame(await api.process().exited, { code: 1, signal: null })
  t.equal(await request, 'cut off')
  const stopLog = logLinesIn(api.process().output()).find(({ msg }) => msg === 'stop timed out')
  t.match(stopLog, { level: 'error', left: [{ name: 'http', under_way: 1, such_as: [/^POST \/payments\/intents /] }] })
  stripe.faults.always(undefined)
})

t.test('a worker that stops delivers every webhook, except to an endpoint that hangs', async (t) => {
  const paid = async () => [...(await paymentsOnLog(store)).values()].filter((types) => types.length > 1).length
  const before = await paid()
  const first = await startReplica(t, backends, 'worker')
  await waitFor(() => endpoint.received.length >= before, { what: 'the webhooks', timeoutMs: 20_000 })
  await first.process().stop()
  t.strictSame(await first.process().exited, { code: 0, signal: null })
  t.strictSame(warningsIn(first.process().output()), [])
  t.equal(new Set(endpoint.received.map(({ id }) => id)).size, endpoint.received.length, 'once')

  isEndpointStuck = true
  const receivedBefore = endpoint.received.length
  const api = await startReplica(t, backends, 'command-api')
  const lastPaid = await idOf(await pay(api.baseUrl))
  made.push(lastPaid)
  const stuck = await startReplica(t, backends, 'worker', shortStop)
  // The payment without a response above may also cause webhooks.
  const lastWebhooks = () => endpoint.received.slice(receivedBefore).filter(({ body }) => body.includes(lastPaid))
  const { id } = await waitFor(() => lastWebhooks()[0], { what: 'the webhook without a response' })
  await stuck.process().stop()
  t.strictSame(await stuck.process().exited, { code: 1, signal: null })
  const failure = logLinesIn(stuck.process().output()).find(({ msg }) => msg === 'could not stop')
  t.match(failure, { level: 'error', part: 'deliveries', err: { message: new RegExp(`endpoint 1, delivery ${id}`) } })

  isEndpointStuck = false
  await startReplica(t, backends, 'worker')
  await waitFor(() => lastWebhooks().length > 1, { what: 'the webhook, again', timeoutMs: 20_000 })
  t.equal(lastWebhooks().at(-1)?.id, id, 'the webhook keeps its id')
})

t.test('a projector that stops commits its batch, and the standby takes over', async (t) => {
  const api = await startReplica(t, backends, 'api')
  const first = await startReplica(t, backends, 'projector')
  const second = await startReplica(t, backends, 'projector')
  type Ready = { checks: Readonly<Record<string, { role?: string }>> }
  const roleOf = async ({ baseUrl }: typeof second) =>
    ((await (await fetch(`${baseUrl}/health/ready`)).json()) as Ready).checks['projection payments']?.role
  await waitFor(async () => (await roleOf(second)) === 'standing by', { what: 'the standby' })
  const some = await Promise.all(Array.from({ length: 10 }, async () => await idOf(await pay(api.baseUrl))))
  const since = performance.now()
  const stopped = first.process().stop()
  const more = Promise.all(Array.from({ length: 10 }, async () => await idOf(await pay(api.baseUrl))))
  await waitFor(async () => (await roleOf(second)) === 'running', { what: 'the takeover' })
  const tookMs = performance.now() - since
  t.comment(`taken over ${Math.round(tookMs)} ms after the signal`)
  t.ok(tookMs < 12_000, 'the takeover does not wait for a session timeout')
  await stopped
  t.strictSame(await first.process().exited, { code: 0, signal: null })
  t.strictSame(warningsIn(first.process().output()), [])
  const all = [...some, ...(await more)]
  await waitFor(
    async () => {
      const list = await fetch(`${api.baseUrl}/payments?limit=50`, { headers })
      const { data } = (await list.json()) as { data: { id: string }[] }
      return all.every((id) => data.some((payment) => payment.id === id))
    },
    { what: 'all payments in the read model' },
  )
})

function logLinesIn(output: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
}
