// How many appends and reads of the event store a payment takes.
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { receiverHarness } from '../testing/receiverHarness.ts'

const fake = await startFakeStripe(t)
const { app, store, appends, send, open } = await receiverHarness(t, await providerFromEnv(t, fake.env))

/** The streams that were read. */
const reads: string[] = []
const { client } = store
const execute = Reflect.get(client, 'execute')
type StreamRead = { getStreamIdentifier(): { getStreamName_asU8(): Uint8Array } | undefined }
type ReadRequest = { getOptions(): { getStream(): StreamRead | undefined } | undefined }
type Read = (request: ReadRequest, ...args: unknown[]) => unknown
Reflect.set(client, 'execute', (service: unknown, name: string, call: (stub: { read: Read }) => unknown) =>
  execute(service, name, (stub: { read: Read }) => {
    const read: Read = (request, ...args) => {
      const stream = request.getOptions()?.getStream()?.getStreamIdentifier()?.getStreamName_asU8()
      reads.push(Buffer.from(stream ?? []).toString())
      return stub.read(request, ...args)
    }
    return call(Object.create(stub, { read: { value: read } }))
  }),
)

/** What an action appends and reads. */
async function costOf<Result>(act: () => Promise<Result>) {
  reads.length = appends.length = 0
  const result = await act()
  return { result, appends: appends.map(({ category, events }) => `${events} to ${category}`), reads: reads.length }
}

t.test('a payment is opened with two appends, and with one read if the request has a key', async (t) => {
  const { appends, reads } = await costOf(open)
  t.same({ appends, reads }, { appends: ['1 to payment', '1 to payment'], reads: 0 })
  const payload = { total_cents: 2599, currency: 'USD' }
  const post = { method: 'POST', url: '/payments/intents', headers: { 'idempotency-key': 'key' }, payload } as const
  const keyed = await costOf(() => app.inject(post))
  t.equal(keyed.result.statusCode, 201)
  t.same({ ...keyed, result: 201 }, { result: 201, appends: ['1 to payment', '1 to payment'], reads: 1 })
})

t.test('an ordinary Stripe payment takes six appends, four reads and one stream', async (t) => {
  const cost = await costOf(async () => {
    const { id, intent } = await open()
    const created = fake.events.findLast(({ type }) => type === 'payment_intent.created')
    const [charged, succeeded] = fake.pay(intent, 'succeeded')
    if (!created || !charged || !succeeded) throw new Error('an event is missing')
    const updated = fake.event('charge.updated', { ...charged.data.object })
    for (const event of [created, charged, succeeded, updated]) t.equal((await send(fake.signed(event)))[0], 200)
    return { id, types: [created, charged, succeeded, updated].map(({ type }) => type) }
  })
  const { id, types } = cost.result
  t.same(types, ['payment_intent.created', 'charge.succeeded', 'payment_intent.succeeded', 'charge.updated'])
  t.same(cost.appends, [...Array(4).fill('1 to payment'), '2 to payment', '1 to payment'])
  t.equal(cost.reads, 4)
  t.same(new Set(reads), new Set([`payment-${id}`]))
})
