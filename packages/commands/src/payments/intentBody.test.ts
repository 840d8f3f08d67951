import type { Actor } from '@paylog/domain/actor'
import t from 'tap'
import { checkCaller } from './intentBody.ts'

const guest = (guest_email: string): Actor => ({ kind: 'guest', guest_email, token_hash: 'hash' })
const to = (email: string) => ({ guest_data: { email } })

t.test('a guest token opens payments only for its own e-mail, ignoring ASCII case', async (t) => {
  for (const email of ['kim@example.com', 'KIM@Example.com']) checkCaller(guest('Kim@example.com'), to(email))
  for (const email of ['tim@example.com', 'kim@example.org', 'kim@example.com '])
    t.throws(() => checkCaller(guest('kim@example.com'), to(email)), { code: 'forbidden' })
  // U+212A (kelvin sign) lowercases to k, but is another address.
  t.throws(() => checkCaller(guest('\u212aim@example.com'), to('kim@example.com')), { code: 'forbidden' })
})
