// GET /admin/payments/{id}/events: a payment's events as the event store has them.
import { randomUUID } from 'node:crypto'
import { eventsAfter } from '@paylog/domain/payments/testing/paymentFixture'
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { admin } from '../testing/commandApiHarness.ts'
import { paymentHistoryHarness } from '../testing/paymentHistoryHarness.ts'

type RecordedEvent = {
  readonly id: string
  readonly type: string
  readonly stream: string
  readonly revision: number
  readonly position: string
  readonly created: string
  readonly data: object
  readonly metadata: object
}
type Page = {
  readonly status: number
  readonly text: string
  readonly data: readonly RecordedEvent[]
  readonly meta: { readonly limit: number; readonly next_revision: number | null }
}

const harness = await paymentHistoryHarness(t)
const { app, store, record, payment } = harness

async function eventsOf(id: string, query = ''): Promise<Page> {
  const response = await app.inject({ url: `/admin/payments/${id}/events${query}`, headers: admin })
  return { status: response.statusCode, text: response.body, ...response.json() }
}

t.test(
  'the recorded events of a payment are those of its stream, unchanged and with their metadata [10.2-recorded-events]',
  async (t) => {
    const { id } = await record(eventsAfter('succeeded'))
    const { events: recorded } = await store.readRawPage(paymentStream(id), 0n, 100)
    const { status, data, meta } = await eventsOf(id.toUpperCase())
    t.equal(status, 200)
    t.same(meta, { limit: 100, next_revision: null })
    t.same(
      data,
      recorded.map(({ id: event, type, position, created, data: bytes }, revision, [first]) => ({
        id: event,
        type,
        stream: `payment-${id}`,
        revision,
        position: String(position.commit),
        created: created.toISOString(),
        data: JSON.parse(Buffer.from(bytes).toString()),
        metadata: {
          actor: 'provider:sandbox',
          $correlationId: 'c-1',
          $causationId: revision === 0 ? 'k-1' : first?.id,
          schema: 1,
        },
      })),
    )
  },
)

t.test('the recorded events have secrets as they are sealed, and what this program cannot decode', async (t) => {
  const { id } = await record(eventsAfter('pending'))
  const odd = { id: randomUUID(), type: 'PaymentVanished.v9', data: '{"b":1.10,\n"a":12345678901234567890}' }
  const { client } = store
  await client.appendToStream(paymentStream(id), {
    id: odd.id,
    contentType: 'application/octet-stream',
    type: odd.type,
    data: Buffer.from(odd.data),
    metadata: undefined,
  })
  const { status, text, data } = await eventsOf(id)
  t.equal(status, 200)
  t.match(text, /"secret":\{"keys":\[/)
  t.notMatch(text, 'client_secret')
  const { data: none, ...event } = data.at(-1) ?? { data: undefined }
  t.match(event, { id: odd.id, type: odd.type, data_base64: Buffer.from(odd.data).toString('base64') })
  t.equal(none, undefined)
  t.equal((await payment(id)).status, 500, 'the payment itself cannot be shown')
})

t.test(
  'the recorded events are paged by revision without gap or repetition, also while events are added',
  async (t) => {
    const { id } = await record(eventsAfter('succeeded'))
    const whole = (await eventsOf(id)).data
    t.ok(whole.length > 2)
    for (const limit of [1, 2, whole.length, 200]) {
      const found: RecordedEvent[] = []
      for (let from: number | null = 0, pages = 0; from !== null; pages++) {
        const page = await eventsOf(id, `?from_revision=${from}&limit=${limit}`)
        t.ok(page.data.length > 0 && page.data.length <= limit)
        t.ok(pages <= whole.length)
        found.push(...page.data)
        from = page.meta.next_revision
      }
      t.same(found, whole, `limit ${limit}`)
    }
    t.match(await eventsOf(id, `?from_revision=${whole.length}`), {
      status: 200,
      data: [],
      meta: { next_revision: null },
    })
  },
)

t.test('the recorded events of an unknown payment are 404, and of a wrong page 400', async (t) => {
  const { id } = await record(eventsAfter('succeeded'))
  for (const unknown of [randomUUID(), 'no-id', `payment-${id}`])
    for (const query of ['', '?from_revision=3'])
      t.match(await eventsOf(unknown, query), { status: 404, error: { code: 'not_found' } }, unknown)
  for (const query of [
    '?limit=0',
    '?limit=201',
    '?from_revision=-1',
    '?from_revision=x',
    '?from_revision=1e30',
    '?from_revision=9223372036854775808',
    '?limit=1&limit=2',
  ])
    t.match(await eventsOf(id, query), { status: 400, error: { code: 'invalid_request' } }, query)
})
