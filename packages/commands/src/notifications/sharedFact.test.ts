// Facts that several notifications report, on a real event store.

import { providerEventStream, sharedFactStream } from '@paylog/event-store/streamName'
import type { ReportedFact } from '@paylog/providers/provider'
import t from 'tap'
import type { Workflow } from '../context.ts'
import { createFakeProvider } from '../testing/fakeProvider.ts'
import { notificationFixture, unsigned } from '../testing/notificationFixture.ts'
import { crashAfter, crashes, workflowHarness } from '../testing/workflowHarness.ts'
import { receiveNotification } from './notifications.ts'

const provider = unsigned(createFakeProvider(t).provider)
const { workflow, store, typesOf } = await workflowHarness(t, provider)

let invoices = 0
const newInvoice = (): ReportedFact => ({ kind: 'paid_invoice', id: `in_${++invoices}` })

function report(shared_fact: ReportedFact | null) {
  const sent = notificationFixture({ shared_fact })
  const body = Buffer.from(JSON.stringify(sent))
  return {
    receive: async (on: Workflow = workflow) => {
      const { postponed } = await receiveNotification(on, { provider, body, headers: {}, requestId: 'request' })
      if (postponed !== undefined) throw postponed
    },
    /** What is recorded of the fact. */
    async recorded() {
      const event = (await store.readStream(providerEventStream(provider.id, sent.provider_event_id))).at(-1)
      return event?.type === 'ProviderEventUnmatched' ? event.data.shared_fact : event?.type
    },
  }
}
const first = { kind: 'paid_invoice', is_first: true }
const repeated = { kind: 'paid_invoice', is_first: false }

t.test(
  'of several notifications that report the same fact the first one is marked, also when it comes again',
  async (t) => {
    const invoice = newInvoice()
    const [paid, succeeded] = [report(invoice), report(invoice)]
    for (const each of [paid, succeeded, paid, succeeded]) await each.receive()
    t.same([await paid.recorded(), await succeeded.recorded()], [first, repeated])
    const other = report({ ...invoice, kind: 'ended_subscription' })
    await other.receive()
    t.match(await other.recorded(), { is_first: true }, 'another fact about an object with the same id')
    const [none, unknown] = [report(null), report({ kind: 'paid_invoice', id: null })]
    for (const each of [none, unknown, unknown]) await each.receive()
    t.same([await none.recorded(), await unknown.recorded()], [null, first])
  },
)

t.test('of 20 notifications of the same fact at the same moment exactly one is the first', async (t) => {
  const invoice = newInvoice()
  const reports = Array.from({ length: 20 }, () => report(invoice))
  await Promise.all(reports.flatMap((each) => [each.receive(), each.receive()]))
  const recorded = await Promise.all(reports.map((each) => each.recorded()))
  t.equal(recorded.filter((fact) => JSON.stringify(fact) === JSON.stringify(first)).length, 1)
  t.equal(recorded.filter((fact) => JSON.stringify(fact) === JSON.stringify(repeated)).length, 19)
  const stream = sharedFactStream(provider.id, invoice.kind, invoice.id ?? '')
  t.same(await typesOf(stream), ['ProviderFactReported'])
  t.notOk(stream.startsWith('providerEvent-'), 'readers of notifications of 1.0.0 do not know the event')
})

t.test('a notification that reported a fact before a crash is still the first one afterwards', async (t) => {
  for (const appends of [1, 2]) {
    const invoice = newInvoice()
    const [early, late] = [report(invoice), report(invoice)]
    t.equal(await crashes(early.receive(crashAfter(appends, workflow))), true)
    await late.receive()
    await early.receive()
    const expected = appends === 1 ? [repeated, first] : [first, repeated]
    t.same([await early.recorded(), await late.recorded()], expected, `after ${appends} appends`)
  }
})
