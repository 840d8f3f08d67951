import { guestOwner, userOwner } from '@paylog/domain/actor'
import t from 'tap'
import {
  adaAsGuest,
  addressesHarness,
  billing,
  kelvinGuest,
  otherGuest,
  plainGuest,
  sameGuest,
} from '../testing/addressesHarness.ts'
import { ada, adaId, freshKey, grace, guest, guestEmail } from '../testing/commandApiHarness.ts'

const { post, put, remove, addressOf, defaultOf, recordsNothing, backend, logged } = await addressesHarness(t)

const canary = 'Canary Lane 1'

t.test('only its owner can change or remove an address; for others it is not found', async (t) => {
  const owners = { ada, grace, guest, otherGuest, adaAsGuest, kelvinGuest, plainGuest }
  for (const [name, owner] of Object.entries(owners)) {
    const id = await addressOf(owner, { ...billing, line1: canary })
    const missing = await put('018f0000-0000-7000-8000-000000000001', { alias: 'x' }, owner)
    for (const [other, headers] of Object.entries(owners)) {
      if (other === name) continue
      const responses = await recordsNothing(t, () =>
        Promise.all([
          put(id, { alias: 'x' }, headers),
          put(id, { is_default: true }, headers),
          put(id, { line1: null }, headers),
          put(id, { alias: 'x' }, { ...headers, 'if-match': '"0"' }),
          remove(id, headers),
          remove(id, { ...headers, 'if-match': '*' }),
        ]),
      )
      for (const { status, error, text, headers: answered } of responses) {
        t.equal(status, 404, `${name}'s address, requested by ${other}`)
        t.equal(error?.message, missing.error?.message)
        t.equal(answered.etag, undefined)
        t.notMatch(text, canary)
      }
    }
    t.equal((await put(id, { alias: 'x' }, owner)).status, 200, name)
    t.equal((await remove(id, owner)).status, 200, name)
  }
  t.notMatch(logged.join(), canary)
})

t.test('two guest tokens with the same e-mail in different case share their addresses', async (t) => {
  const id = await addressOf(guest)
  t.match(await put(id, { alias: 'x' }, sameGuest), { status: 200, data: { guest_email: 'guest@example.com' } })
  const second = await addressOf(sameGuest, { ...billing, is_default: true })
  t.match(await put(id, { is_default: true }, guest), { status: 200 })
  t.equal(await defaultOf(guestOwner(guestEmail), 'billing'), id, 'one list of defaults')
  t.match(await remove(second, guest), { status: 200 })
})

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

t.test('an address from a guest with any other guest_email, even a malformed one, is forbidden', async (t) => {
  const id = await addressOf(guest)
  for (const guest_email of [
    'other@example.com',
    'guest@example.co',
    ' guest@example.com',
    'x',
    '',
    'gue\u017ft@example.com',
  ]) {
    const { status, error } = await recordsNothing(t, () => post({ ...billing, guest_email }, guest))
    t.match({ status, error }, { status: 403, error: { code: 'forbidden' } }, JSON.stringify(guest_email))
  }
  t.equal(
    (await recordsNothing(t, () => post({ ...billing, guest_email: 'kim@example.com' }, kelvinGuest))).status,
    403,
  )
  const changed = await put(id, { alias: 'y', guest_email: 'other@example.com' }, guest)
  t.match(changed, { status: 200, data: { alias: 'y', guest_email: 'guest@example.com' } }, 'the owner stays')
})

t.test("a user's address with a guest's e-mail belongs only to the user", async (t) => {
  const { data } = await post({ ...billing, guest_email: 'guest@example.com', guest_name: 'Guest', is_default: true })
  t.match(data, { user_id: adaId, guest_email: 'guest@example.com', guest_name: 'Guest' })
  for (const headers of [guest, sameGuest, adaAsGuest]) {
    t.equal((await recordsNothing(t, () => put(data.id, { alias: 'x' }, headers))).status, 404)
    t.equal((await recordsNothing(t, () => remove(data.id, headers))).status, 404)
  }
  const theirs = await addressOf(guest, { ...billing, is_default: true })
  t.equal(await defaultOf(userOwner(adaId), 'billing'), data.id, "the guest's default does not affect it")
  t.equal(await defaultOf(guestOwner(guestEmail), 'billing'), theirs)
})

t.test('a user and a guest with the same e-mail share no addresses', async (t) => {
  const [user, visitor] = [
    await addressOf(ada, { ...billing, is_default: true }),
    await addressOf(adaAsGuest, { ...billing, is_default: true }),
  ]
  t.equal((await recordsNothing(t, () => put(user, { alias: 'x' }, adaAsGuest))).status, 404)
  t.equal((await recordsNothing(t, () => put(visitor, { alias: 'x' }, ada))).status, 404)
  t.equal(await defaultOf(userOwner(adaId), 'billing'), user)
  t.equal(await defaultOf(guestOwner('ada@example.com'), 'billing'), visitor)
})

t.test('callers do not share idempotency keys, not even guests with similar e-mails', async (t) => {
  const key = freshKey()
  const callers = [ada, grace, guest, otherGuest, adaAsGuest, kelvinGuest, plainGuest]
  const responses = []
  for (const headers of callers) responses.push(await post(billing, { ...headers, ...key }))
  t.same(
    responses.map(({ status, headers }) => [status, headers['idempotent-replayed']]),
    callers.map(() => [201, undefined]),
  )
  t.equal(new Set(responses.map(({ data }) => data.id)).size, callers.length)
  const again = await post(billing, { ...sameGuest, ...key })
  t.equal(again.headers['idempotent-replayed'], 'true', 'another token of the same guest')
})

t.test('address requests are 503 and record nothing while the identity backend is down', async (t) => {
  const id = await addressOf(ada)
  backend.breakWith('silent')
  t.teardown(() => backend.breakWith(undefined))
  // Each request waits for the identity backend's timeout.
  const responses = await recordsNothing(t, () =>
    Promise.all(
      [ada, guest].flatMap((headers) => [
        post(billing, headers),
        put(id, { alias: 'x' }, headers),
        remove(id, headers),
      ]),
    ),
  )
  t.equal(responses.length, 6)
  for (const { status, error } of responses)
    t.match({ status, error }, { status: 503, error: { code: 'identity_unavailable' } })
})
