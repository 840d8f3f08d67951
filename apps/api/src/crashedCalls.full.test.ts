import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { type FakeProvider, startFakeProviders } from '@paylog/testing/fakeProviders'
import type { Fault } from '@paylog/testing/fakeServer'
import { freePort, startProcess } from '@paylog/testing/processes'
import { startTcpProxy, type TcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'

const main = (app: string) => new URL(`../../${app}/src/main.ts`, import.meta.url)

/** A point in a call at which the process is killed. */
type Step = {
  readonly name: string
  /** Prepares the fault before it returns. Resolves when it is time to kill. */
  readonly reach: (about: Reaching) => Promise<void>
}
type Reaching = {
  readonly fakes: readonly FakeProvider[]
  readonly proxy: TcpProxy
}

/** Injects a fault into the next intent call of each provider and waits for all of those calls. */
async function reachCall({ fakes }: Reaching, fault: Fault): Promise<void> {
  await Promise.all(
    fakes.map(async (fake) => {
      const before = fake.creations()
      fake.faults.next(fault)
      await waitFor(() => fake.creations() > before, { what: `a call to ${fake.id}` })
    }),
  )
}

const steps: readonly Step[] = [
  {
    name: 'before the provider created the intent',
    async reach(about) {
      await reachCall(about, { kind: 'hang', commits: false })
    },
  },
  {
    name: 'before the provider responded',
    async reach(about) {
      await reachCall(about, { kind: 'hang', commits: true })
    },
  },
  {
    name: 'before anything of the response was recorded',
    async reach(about) {
      await reachCall(about, { kind: 'slow', ms: 4_000 })
      about.proxy.freezeConnections()
      await about.proxy.requestHeld()
    },
  },
]

t.test('the reconciler finishes a payment when the API is killed during the provider call', async (t) => {
  const [log, identity, fakes] = await Promise.all([startEventStore(t), startFakeIdentity(t), startFakeProviders(t)])
  const store = createEventStore({ connectionString: log.connectionString, keys: log.keys })
  t.teardown(() => store.close())
  const logged = async (prefix: string) => {
    const events = []
    for await (const event of store.readLog({ prefixes: [prefix] })) events.push(event)
    return events
  }
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const env = {
    DATABASE_URL: log.databaseUrl,
    AUTH_URL: identity.authUrl,
    LOG_LEVEL: 'warn',
    ...Object.assign({}, ...fakes.map((fake) => fake.env)),
  }
  const direct = { ...env, EVENTSTORE_URL: log.connectionString }

  /**
   * Opens a payment at each provider and kills the API when all of them have reached the step. @returns the payment ids
   */
  async function crash(t: Test, step: Step): Promise<ReadonlyMap<FakeProvider, string>> {
    const proxy = await startTcpProxy(t, Number(new URL(log.connectionString).port))
    const EVENTSTORE_URL = `esdb://127.0.0.1:${proxy.port}?tls=false`
    const api = await startProcess(t, {
      script: main('command-api'),
      env: { ...env, PORT: String(port), EVENTSTORE_URL },
    })
    const reached = step.reach({ fakes, proxy })
    const open = (provider_id: string) =>
      fetch(`${baseUrl}/payments/intents`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ total_cents: 2599, currency: 'USD', provider_id }),
      }).catch(() => undefined)
    const requests = fakes.map(({ id }) => open(id))
    await reached
    await api.kill('SIGKILL')
    for (const request of requests) t.equal(await request, undefined, 'the client gets no response')
    const initiated = (await logged('payment-')).filter((event) => event.type === 'PaymentInitiated')
    return new Map(
      fakes.map((fake) => {
        const last = initiated.findLast(({ data }) => data.provider_id === fake.id)
        if (last === undefined) throw new Error(`No payment at ${fake.id} was recorded`)
        return [fake, last.data.payment_id]
      }),
    )
  }

  const left: { readonly fake: FakeProvider; readonly id: string; readonly name: string }[] = []
  for (const step of steps)
    await t.test(`an API killed ${step.name} leaves each payment without an outcome`, async (t) => {
      for (const [fake, id] of await crash(t, step)) {
        t.same(
          (await store.readStream(paymentStream(id))).map(({ type }) => type),
          ['PaymentInitiated'],
          `the payment at ${fake.id} has no outcome yet`,
        )
        left.push({ fake, id, name: step.name })
      }
    })

  await startProcess(t, { script: main('worker'), env: direct })
  await startProcess(t, { script: main('command-api'), env: { ...direct, PORT: String(port) } })
  for (const { fake, id, name } of left)
    await t.test(`a ${fake.id} payment of an API killed ${name} is finished and charged once`, async (t) => {
      const created = await waitFor(
        async () => (await store.readStream(paymentStream(id))).find(({ type }) => type === 'ProviderIntentCreated'),
        { what: 'the reconciler', timeoutMs: 60_000 },
      )
      if (created.type !== 'ProviderIntentCreated') throw new Error('No intent')
      t.equal(fake.intentsOf(id), 1, 'one intent at the provider')
      const { provider_intent_id, client_secret } = created.data
      fake.pay({ provider_intent_id, client_secret: client_secret ?? '' })
      const statuses = await fake.deliver(`${baseUrl}/webhooks/${fake.id}`)
      t.same([...new Set(statuses)], [200])
      const types = await waitFor(
        async () => {
          const types = (await store.readStream(paymentStream(id))).map(({ type }) => type)
          return types.includes('PaymentSucceeded') && types
        },
        { what: 'the payment to succeed', timeoutMs: 20_000 },
      )
      t.equal(types.filter((type) => type === 'ProviderIntentCreated').length, 1)
      t.equal(types.filter((type) => type === 'PaymentSucceeded').length, 1)
      t.same(fake.chargesOf(id), [2599])
    })
})
