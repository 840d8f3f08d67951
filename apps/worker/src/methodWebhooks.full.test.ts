// Saved methods and addresses leave Paylog only in raw webhooks, as the provider's own text.

import { randomUUID } from 'node:crypto'
import { createWorkerHarness } from '@paylog/deliveries/testing/workerHarness'
import { addAddress, addressFold } from '@paylog/domain/addresses/address'
import { existingMethod } from '@paylog/domain/payment-methods/paymentMethod'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { addressStream } from '@paylog/event-store/streamName'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { signSandboxEvent } from '@paylog/providers/sandbox/signature'
import { positionAt } from '@paylog/testing/positionAt'
import { receiveNotification } from '@paylog/workflows/notifications'
import { changeSavedMethod } from '@paylog/workflows/payment-methods/changeSavedMethod'
import { savePaymentMethod } from '@paylog/workflows/payment-methods/savePaymentMethod'
import t from 'tap'
import { createReconcilerHarness } from './testing/reconcilerHarness.ts'

const { store, now, open } = await createReconcilerHarness(t)
const sandbox = createSandbox({ webhookSecrets: ['secret'] })
const workflow = { store, providers: new Map([[sandbox.id, sandbox]]), now }
const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'session:user-1' }
const canary = (what: string) => `canary-${what}`
const place = { line1: canary('line'), line2: null, city: canary('city'), state: null, postal_code: canary('code') }

/** A user's default method with all optional fields. */
async function save(payment_method_token: string) {
  const outcome = await savePaymentMethod(workflow, {
    request_id: randomUUID(),
    request_fingerprint: 'fingerprint',
    caller: {
      kind: 'session',
      user_id: 'user-1',
      user_type: 'customer',
      user_email: 'ann@example.com',
      is_administrator: false,
    },
    providerId: () => sandbox.id,
    token: payment_method_token,
    options: {
      type: canary('type'),
      wallet_type: canary('wallet'),
      organization_id: canary('organization'),
      alias: canary('alias'),
      billing_address_id: null,
      billing_details: {
        name: canary('name'),
        email: 'canary@example.com',
        phone: canary('phone'),
        address: { ...place, country: 'NL' },
      },
      is_default: true,
    },
    metadata,
  })
  if (outcome.kind !== 'saved') throw new Error('The sandbox declined the token')
  return existingMethod(outcome.state)
}

async function keepAddress(): Promise<void> {
  const address_id = randomUUID()
  const command = {
    address_id,
    occurred_at: now().toISOString(),
    user_id: 'user-1',
    guest_email: 'canary@example.com',
    address_type: 'billing' as const,
    organization_id: null,
    name: canary('name'),
    ...place,
    country: 'NL',
    is_partial: false,
    is_business: true,
    business_name: canary('business'),
    tax_id: canary('tax'),
    tax_id_type: null,
    phone: canary('phone'),
    email: 'canary@example.com',
    alias: canary('alias'),
    guest_name: canary('guest'),
    is_default: false,
    request_fingerprint: null,
  }
  await store.handle({
    stream: addressStream(address_id),
    fold: addressFold,
    decide: (state) => addAddress(command, state),
    metadata,
  })
}

/** Receives the provider's notification of a detached method. @returns its body */
async function notifyDetached(provider_method_id: string): Promise<string> {
  const created = Math.floor(now().getTime() / 1_000)
  const object = { id: provider_method_id, note: 'of the provider' }
  const body = JSON.stringify({ id: 'evt_detached', type: 'payment_method.detached', created, data: { object } })
  const headers = { 'sandbox-signature': signSandboxEvent('secret', body, created) }
  await receiveNotification(workflow, { provider: sandbox, body: Buffer.from(body), headers, requestId: 'request-2' })
  return body
}

const everything = ['payment', 'idempotentRequest', 'address', 'defaultChoice', 'provider', 'setupIntent', 'guestToken']

t.test("webhooks about methods and addresses contain only the provider's own text [6.2-methods-raw]", async (t) => {
  const [first, second] = [await save('pm_card_visa'), await save('pm_card_amex')]
  const { payment_method_id } = first
  const allowed = () => undefined
  const target = { id: payment_method_id, owner: 'user:user-1', checkRevision: allowed, checkBody: allowed, metadata }
  await changeSavedMethod(workflow, { ...target, alias: canary('other alias'), is_default: true })
  await changeSavedMethod(workflow, { ...target, is_default: false })
  await keepAddress()
  const { provider_method_id, provider_customer_id } = first
  await open(sandbox, { payment_method_id, provider_method: { provider_method_id, provider_customer_id } })
  const text = await notifyDetached(second.provider_method_id)

  const events: Recorded[] = []
  for await (const event of store.readLog({ prefixes: everything })) events.push(event)
  const types = new Set<string>(events.map(({ type }) => type))
  for (const type of [
    'PaymentMethodAdded',
    'PaymentMethodAliasChanged',
    'PaymentMethodRemoved',
    'IdempotentRequestStarted',
    'IdempotentRequestEnded',
    'DefaultChosen',
    'DefaultCleared',
    'ProviderCustomerLinked',
    'ProviderEventAppliedToMethod',
    'AddressAdded',
  ])
    t.ok(types.has(type), `the log has ${type}`)

  const url = 'http://127.0.0.1:9'
  const harness = await createWorkerHarness(t, 'postgres', {
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: url,
    WEBHOOK_2_ENABLED: 'true',
    WEBHOOK_2_URL: url,
    WEBHOOK_2_EVENT_MODE: 'raw',
    WEBHOOK_3_ENABLED: 'true',
    WEBHOOK_3_URL: url,
    WEBHOOK_3_EVENT_MODE: 'both',
  })
  await harness.dispatcher.start()
  await harness.dispatcher.handle({ events, position: events.at(-1)?.position ?? positionAt(0n) })
  const { rows } = await harness.pool.query<{ node: string; event: string; body: string }>(
    'select node, event, body from webhooks.deliveries order by node, event',
  )
  t.same(
    rows.map(({ node, event }) => `${node} ${event}`),
    [
      '1 payment.created',
      '2 sandbox:payment_method.detached',
      '3 payment.created',
      '3 sandbox:payment_method.detached',
    ],
  )
  for (const { event, body } of rows) {
    t.notMatch(body, /canary/)
    if (event.startsWith('sandbox:')) t.same(JSON.parse(body).data, JSON.parse(text))
    else
      t.notOk(
        body.includes(payment_method_id) || body.includes(provider_method_id),
        'canonical messages contain no method id',
      )
  }
})
