import t from 'tap'
import { addressesHarness, billing, kelvinGuest, sameGuest } from '../testing/addressesHarness.ts'
import { guest } from '../testing/commandApiHarness.ts'

const { post, put, addressOf, recordsNothing } = await addressesHarness(t)

t.test("a guest's address has the token's e-mail and no user id [4.6-guest]", async (t) => {
  const cases: [Readonly<Record<string, string>>, object, string][] = [
    [guest, {}, 'guest@example.com'],
    [guest, { guest_email: null }, 'guest@example.com'],
    [guest, { guest_email: 'Guest@EXAMPLE.com' }, 'Guest@EXAMPLE.com'],
    [sameGuest, {}, 'GUEST@Example.com'],
    [sameGuest, { guest_email: 'guest@example.com' }, 'guest@example.com'],
    [kelvinGuest, {}, '\u212aim@example.com'],
  ]
  for (const [headers, more, guest_email] of cases) {
    const { status, data } = await post({ ...billing, ...more, guest_name: 'Kim' }, headers)
    t.match({ status, data }, { status: 201, data: { user_id: null, guest_email, guest_name: 'Kim' } })
  }
})

// The comparison of e-mails: payments/intentBody.test.ts.
t.test('an address from a guest with any other guest_email, even a malformed one, is forbidden', async (t) => {
  const id = await addressOf(guest)
  for (const guest_email of ['other@example.com', ' guest@example.com', 'x', '']) {
    const { status, error } = await recordsNothing(t, () => post({ ...billing, guest_email }, guest))
    t.match({ status, error }, { status: 403, error: { code: 'forbidden' } }, JSON.stringify(guest_email))
  }
  const changed = await put(id, { alias: 'y', guest_email: 'other@example.com' }, guest)
  t.match(changed, { status: 200, data: { alias: 'y', guest_email: 'guest@example.com' } }, 'the owner stays')
})
