import { randomUUID } from 'node:crypto'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { paymentsOnLog, startReplica, startReplicaBackends, warningsIn } from './testing/replicas.ts'

const headers = { 'x-session-id': 'demo-session', 'content-type': 'application/json' }
/** For a provider that does not respond. */
const shortStop = { STOP_TIMEOUT: '2s' }

type LogLine = {
  readonly level: string
  readonly msg: string
  readonly left?: unknown
  readonly err?: { message: string }
}

const backends = await startReplicaBackends(t)
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

function logLinesIn(output: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
}
