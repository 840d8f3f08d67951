// A customer that was deleted at the provider, on a real event store.
import { randomUUIDv7 } from 'node:crypto'
import { customerDeletionStream, paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import t from 'tap'
import type { Workflow } from '../context.ts'
import { receiveNotification } from '../notifications/notifications.ts'
import { notificationFixture, unsigned } from '../testing/notificationFixture.ts'
import { type Caller, newGuest, newUser, savedMethodHarness } from '../testing/savedMethodHarness.ts'
import { crashAfter, crashes } from '../testing/workflowHarness.ts'

const { workflow, fake, providers, idOf, newToken, typesOf, save, stateOf } = await savedMethodHarness(t)
const enabled = providers.get('vault')
if (!enabled) throw new Error('No vault')
const provider = unsigned(enabled)

const historyOf = async (token: string) => typesOf(paymentMethodStream(idOf(token)))
const removed = ['PaymentMethodAdded', 'PaymentMethodRemoved']

/** A notification that the provider has deleted a user's first customer. */
function deletionOf(by: Caller & { readonly kind: 'session' }) {
  const customer = `cus_${by.user_id}`
  const sent = notificationFixture({ generic_type: 'customer.deleted', object_id: customer, customer_id: customer })
  const body = Buffer.from(JSON.stringify(sent))
  return async (on: Workflow = workflow): Promise<void> => {
    const { postponed } = await receiveNotification(on, { provider, body, headers: {}, requestId: 'request' })
    if (postponed !== undefined) throw postponed
  }
}

t.test('a deleted customer takes its saved methods along, and no other ones', async (t) => {
  const [by, other, guest] = [newUser(), newUser(), newGuest()]
  const tokens = [newToken(), newToken()]
  const others = [newToken(), newToken()] as const
  for (const token of tokens) await save({ by, token })
  await save({ by: other, token: others[0] })
  await save({ by: guest, token: others[1] })
  const notify = deletionOf(by)
  await Promise.all([notify(), notify(), notify()])
  for (const token of tokens) t.same(await historyOf(token), removed)
  for (const token of others) t.same(await historyOf(token), ['PaymentMethodAdded'])
  const added = newToken()
  await save({ by: other, token: added })
  await deletionOf(other)()
  t.same(await historyOf(added), removed, 'added after the log was read first')
})

t.test('a deletion is applied as a whole after a crash at any append', async (t) => {
  let appends = 0
  for (let isOver = false; !isOver; appends++) {
    const by = newUser()
    const tokens = [newToken(), newToken()]
    for (const token of tokens) await save({ by, token })
    const notify = deletionOf(by)
    isOver = !(await crashes(notify(crashAfter(appends, workflow))))
    await notify()
    for (const token of tokens) t.same(await historyOf(token), removed, `after ${appends} appends`)
    t.same(await typesOf(customerDeletionStream('vault', `cus_${by.user_id}`)), ['ProviderCustomerDeletionReported'])
  }
  t.ok(appends > 4, 'there are at least five crash points')
})

t.test("the token of a removed method is saved again with the user's next customer", async (t) => {
  const by = newUser()
  const token = newToken()
  await save({ by, token })
  await deletionOf(by)()
  fake.vault.customers.delete(token)
  t.match(await save({ by, token }), { kind: 'saved', created: true })
  const links = ['ProviderCustomerLinked', 'ProviderCustomerLinked']
  t.same(await typesOf(providerCustomerStream('vault', by.user_id)), links)
})

t.test('a method whose customer is deleted while it is saved is not kept', async (t) => {
  const by = newUser()
  await save({ by, token: newToken() })
  const token = newToken()
  fake.meanwhile = async (call) => {
    if (call === 'attach') await deletionOf(by)()
  }
  const request = { request_id: randomUUIDv7(), request_fingerprint: 'fingerprint' }
  await t.rejects(save({ by, token }, request), { code: 'provider_rejected' })
  t.match(await stateOf(token), { status: 'removed' })
  fake.meanwhile = undefined
  fake.vault.customers.delete(token)
  t.match(await save({ by, token }, request), { kind: 'saved', created: true }, 'repeated')
})
