// Follow-ups of notifications about saved methods.

import { receiveNotification } from '@paylog/commands/notifications/notifications'
import { paymentMethodId } from '@paylog/commands/payment-methods/savedMethod'
import { addPaymentMethod, paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream, providerEventStream } from '@paylog/event-store/streamName'
import { connect } from '@paylog/providers/testing/providerHarness'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createReconcilerHarness } from '../testing/reconcilerHarness.ts'

const second = 1_000
const harness = await createReconcilerHarness(t)
const fake = await startFakeStripe(t, { now: harness.now })
const stripe = await connect(t, fake.env, { timeoutMs: 2_000 })
const workflow = { store: harness.store, providers: new Map([[stripe.id, stripe]]), now: harness.now }

const stateOf = async (id: string) => (await harness.store.load(paymentMethodStream(id), paymentMethodFold)).state

/** A method attached at Stripe and recorded here. */
async function save() {
  const { methods } = stripe
  const user = { user_id: 'user-1', email: 'ann@example.com', name: null }
  const customer = (await methods?.createCustomer({ idempotency_key: crypto.randomUUID(), ...user })) ?? ''
  const attached = await methods?.attachMethod({
    idempotency_key: crypto.randomUUID(),
    token: fake.addMethod().id,
    user_id: user.user_id,
    provider_customer_id: customer,
  })
  if (!attached) throw new Error('Stripe attached no method')
  const id = paymentMethodId(stripe.id, attached.provider_method_id)
  const command = {
    payment_method_id: id,
    occurred_at: harness.now().toISOString(),
    user_id: user.user_id,
    guest_email: null,
    provider_id: stripe.id,
    ...attached,
    type: null,
    alias: 'Mine',
    organization_id: null,
    billing_address_id: null,
    billing_details: null,
  }
  await harness.store.handle({
    stream: paymentMethodStream(id),
    fold: paymentMethodFold,
    decide: (state) => addPaymentMethod(command, state),
    metadata: { correlationId: 'request-1', causationId: 'request-1', actor: 'session:user-1' },
  })
  const { provider_method_id, provider_customer_id } = attached
  return { id, provider_method: { provider_method_id, provider_customer_id } }
}

async function receive(event: { readonly id: string }) {
  const { body, headers } = fake.signed(event)
  const received = await receiveNotification(workflow, {
    provider: stripe,
    body: Buffer.from(body),
    headers,
    requestId: 'request-1',
  })
  return { ...received, inbox: providerEventStream(stripe.id, event.id) }
}
const typesOf = async (stream: string) => (await harness.store.readStream(stream)).map(({ type }) => type)
const settled = (inbox: string) =>
  waitFor(async () => (await harness.entry(inbox)) === undefined, { what: 'the end of the follow-up' })

t.test('a notification about a method is applied once Stripe responds again', async (t) => {
  await harness.startWorker(t, stripe)
  const [gone, renewed] = [await save(), await save()]
  fake.readFaults.always({ kind: 'drop', commits: false })
  const [detached] = fake.detachMethod(gone.provider_method.provider_method_id)
  const [updated] = fake.changeCard(renewed.provider_method.provider_method_id, { last4: '0005', exp_year: 2034 })
  if (!detached || !updated) throw new Error('Stripe sent no event')
  const inboxes: string[] = []
  for (const event of [detached, updated]) {
    const { inbox, postponed } = await receive(event)
    t.match(postponed, { name: 'ProviderError' })
    t.match(await harness.entry(inbox), { finish: Date, ask: null, watch: null })
    inboxes.push(inbox)
  }
  harness.forward(31 * second)
  for (const inbox of inboxes) {
    await waitFor(async () => (await harness.entry(inbox))?.pauses === 2, { what: 'a look without a response' })
    t.same(await typesOf(inbox), ['ProviderEventReceived'])
  }
  t.match(await stateOf(gone.id), { status: 'saved' }, 'the method stays saved until Stripe confirms')
  fake.readFaults.always(undefined)
  harness.forward(60 * second)
  for (const inbox of inboxes) {
    await settled(inbox)
    t.same(await typesOf(inbox), ['ProviderEventReceived', 'ProviderEventAppliedToMethod'])
  }
  t.match(await stateOf(gone.id), { status: 'removed' })
  t.match(await stateOf(renewed.id), { status: 'saved', last_four: '0005', expiry_year: '2034', alias: 'Mine' })
})
