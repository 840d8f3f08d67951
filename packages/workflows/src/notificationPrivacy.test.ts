// Personal data in notifications that belong to no payment.
import { customerDeletionFold } from '@paylog/domain/providerCustomer'
import { customerDeletionStream, providerEventStream } from '@paylog/event-store/streamName'
import type { ProviderNotification } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import t, { type Test } from 'tap'
import { receiveNotification } from './notifications.ts'
import { notificationFixture, unsigned } from './testing/notificationFixture.ts'
import { metadata, workflowHarness } from './testing/workflowHarness.ts'

/** What only the provider knows. */
let known: Partial<ProviderNotification> = {}
const provider = unsigned({
  ...createSandbox({ webhookSecrets: ['secret'] }),
  completeNotification: async (notification) => ({ ...notification, ...known }),
})
const { workflow, store, keys } = await workflowHarness(t, provider)

/** Receives a notification about a customer. @returns its inbox */
async function receive(t: Test, about: Partial<ProviderNotification>) {
  const sent = notificationFixture(about)
  const body = Buffer.from(JSON.stringify(sent))
  const received = await receiveNotification(workflow, { provider, body, headers: {}, requestId: 'request' })
  t.equal(received.postponed, undefined)
  return providerEventStream(provider.id, sent.provider_event_id)
}

t.test(
  'a notification names the person whose data it holds by e-mail, also when only the provider knows it',
  async (t) => {
    const customer_email = 'Ada@example.com'
    known = { customer_email }
    for (const isNamed of [true, false]) {
      const about = { customer_id: 'cus_ada', generic_type: 'customer.updated' }
      const inbox = await receive(t, { ...about, customer_email: isNamed ? customer_email : null })
      const [received, unmatched] = await store.readStream(inbox)
      const [key] = await keys.named(['guest:ada@example.com'])
      t.equal(received?.sealed.body?.length, isNamed ? 2 : 1, 'the day, and the customer if the body says who it is')
      t.match(unmatched, { data: { customer_email }, sealed: { personal: [key?.id] } })
    }
  },
)

t.test('a notification about a customer that we have deleted is recorded without personal data', async (t) => {
  known = {}
  const data = { provider_id: provider.id, user_id: 'u1', provider_customer_id: 'cus_gone' }
  await store.handle({
    stream: customerDeletionStream(provider.id, 'cus_gone'),
    fold: customerDeletionFold,
    decide: () => [
      { type: 'ProviderCustomerDeletionRequested', data: { ...data, occurred_at: new Date().toISOString() } },
    ],
    metadata,
  })
  const about = { generic_type: 'customer.deleted', customer_id: 'cus_gone', customer_email: 'ada@example.com' }
  const inbox = await receive(t, about)
  const [received, unmatched] = await store.readStream(inbox)
  t.match(received, { type: 'ProviderEventReceived', data: { body: null }, sealed: {} })
  t.match(unmatched, { type: 'ProviderEventUnmatched', data: { customer_id: 'cus_gone', customer_email: null } })
  const raw = await store.readRawPage(inbox, 0n, 10)
  t.notMatch(Buffer.concat(raw.events.map((event) => Buffer.from(event.data))).toString(), /ada@|sealed/)
})
