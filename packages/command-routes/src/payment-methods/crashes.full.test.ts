// Saving a method after a crash between any two steps, at every provider.

import { randomUUID } from 'node:crypto'
import { ownerOf, type Session } from '@paylog/domain/actor'
import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import { existingMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { providerCustomerStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import { savePaymentMethod } from '@paylog/workflows/payment-methods/savePaymentMethod'
import { crashAfter, crashes } from '@paylog/workflows/testing/workflowHarness'
import t from 'tap'
import { type FakeMethodProvider, providerFromEnv, startFakeMethodProviders } from '../testing/fakeProviders.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'

const fakes = await startFakeMethodProviders(t)
const adapters = await Promise.all(fakes.map((fake) => providerFromEnv(t, fake.env)))
const { workflow, store, time, defaultOf, stateOf } = await methodsHarness(t, adapters)

const metadata = { correlationId: 'test', causationId: 'test', actor: 'test' }
const options = {
  type: null,
  wallet_type: null,
  organization_id: null,
  alias: 'Mine',
  billing_address_id: null,
  billing_details: null,
  is_default: true,
}

/** A new user with a request to save a method. */
function newcomer(fake: FakeMethodProvider) {
  const user_id = randomUUID()
  const email = `${user_id}@example.com`
  const caller: Session = { kind: 'session', user_id, user_type: 'user', user_email: email, is_administrator: false }
  const request = {
    request_id: randomUUID(),
    request_fingerprint: 'a',
    caller,
    providerId: () => fake.id,
    options,
    metadata,
  }
  return {
    caller,
    request,
    save: (on: Workflow, token: string, more: object = {}) => savePaymentMethod(on, { ...request, token, ...more }),
  }
}

async function customersOf(fake: FakeMethodProvider, { user_id }: Session): Promise<number> {
  return (await store.readStream(providerCustomerStream(fake.id, user_id))).length
}

for (const fake of fakes) {
  t.test(`${fake.id}: saving a method is finished by a retry after a crash at any append`, async (t) => {
    let appends = 0
    for (let isOver = false; !isOver; appends++) {
      const name = `after ${appends} appends`
      time.now = () => new Date()
      const before = { attached: fake.attached(), customers: fake.customers() }
      const { caller, save } = newcomer(fake)
      const token = fake.token()
      const dead = await crashes(save(crashAfter(appends, workflow), token))
      isOver = !dead
      time.now = () => new Date(Date.now() + requestInFlightMs)
      const attachedBefore = fake.attached() > before.attached
      const again = save(workflow, token)
      // The crashed process may have used up a one-time token; then the payer must fill in the form again.
      const isSpent = dead && attachedBefore && fake.id === 'authorize-net'
      if (isSpent) await t.rejects(again, { code: 'provider_rejected' }, name)
      const fresh = { request_id: randomUUID() }
      const finished = isSpent ? await save(workflow, fake.tokenAgain(token), fresh) : await again
      if (finished.kind !== 'saved') throw new Error('declined')
      t.equal(fake.attached(), before.attached + 1, `${name}: attached once`)
      if (before.customers !== null) t.equal(fake.customers(), before.customers + 1, `${name}: one customer is created`)
      t.equal(await customersOf(fake, caller), 1, `${name}: the customer is linked`)
      const { payment_method_id, provider_customer_id } = existingMethod(finished.state)
      t.match(await stateOf(payment_method_id), { status: 'saved', user_id: caller.user_id, alias: 'Mine' }, name)
      t.equal(await defaultOf(ownerOf(caller)), payment_method_id, `${name}: it is the default`)
      if (!isSpent)
        t.match(await save(workflow, token), { kind: 'saved', replayed: true }, `${name}: the response is replayed`)
      const next = await save(workflow, fake.token(), { request_id: randomUUID() })
      if (next.kind !== 'saved') throw new Error('declined')
      const following = existingMethod(next.state)
      t.equal(following.provider_customer_id, provider_customer_id, `${name}: the same customer`)
      t.equal(await defaultOf(ownerOf(caller)), following.payment_method_id, `${name}: the next default replaces it`)
    }
    t.ok(appends > 4, 'there are at least five crash points')
  })
}
