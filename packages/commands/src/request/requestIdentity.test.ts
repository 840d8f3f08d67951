import { createHmac } from 'node:crypto'
import type { Actor } from '@paylog/domain/actor'
import { noRights } from '@paylog/domain/rights'
import t from 'tap'
import { requestIdentity } from './requestIdentity.ts'

const session: Actor = { kind: 'session', user_id: 'u1', user_type: 'user', user_email: null, ...noRights }
const guest: Actor = { kind: 'guest', guest_email: 'Guest@example.com', token_hash: 'x' }
const anonymous: Actor = { kind: 'anonymous' }
const hashWith = (secret: string) => (text: string) => createHmac('sha256', secret).update(text).digest('hex')
const hash = hashWith('secret')
const of = (actor: Actor, key: string | undefined, body: unknown = {}, route = 'POST /x') =>
  requestIdentity(hash, key, actor, route, body, { ip: '192.0.2.1', guest_email: undefined })

t.test('every request without an Idempotency-Key gets a new id', async (t) => {
  t.not(of(session, undefined).id, of(session, undefined).id)
  t.equal(of(session, undefined).fingerprint, null)
})

t.test('an Idempotency-Key gives the same id only for the same caller and route [10.1-key-scope]', async (t) => {
  const { id } = of(session, 'key')
  t.equal(of(session, 'key', { other: 1 }).id, id)
  const others = [
    of(session, 'key', {}, 'POST /y'),
    of({ ...session, user_id: 'u2' }, 'key'),
    of(guest, 'key'),
    of(anonymous, 'key'),
    of(session, 'key2'),
  ]
  t.equal(new Set([id, ...others.map((other) => other.id)]).size, 6)
  t.equal(of({ ...guest, guest_email: 'guest@EXAMPLE.com', token_hash: 'y' }, 'key').id, of(guest, 'key').id)
})

t.test('an anonymous Idempotency-Key gives one id only for one e-mail and network [10.1-key-anonymous]', async (t) => {
  const idOf = (ip: string, guest_email?: string) =>
    requestIdentity(hash, 'key', anonymous, 'POST /x', {}, { ip, guest_email }).id
  const id = idOf('192.0.2.1', 'guest@example.com')
  for (const ip of ['192.0.2.200', '::ffff:192.0.2.7']) t.equal(idOf(ip, 'Guest@EXAMPLE.com'), id, ip)
  t.equal(idOf('2001:db8:0:1::1'), idOf('2001:db8:0:2::2'))
  const scopes = [
    id,
    idOf('192.0.2.1'),
    idOf('192.0.3.1', 'guest@example.com'),
    idOf('192.0.2.1', 'other@example.com'),
    idOf('192.0.2.1', '\u212aim@example.com'),
    idOf('192.0.2.1', 'kim@example.com'),
    idOf('2001:db8:0:1::1'),
    idOf('2001:db8:1:1::1'),
    of({ ...guest, guest_email: 'guest@example.com' }, 'key').id,
  ]
  t.equal(new Set(scopes).size, scopes.length)
  t.throws(() => requestIdentity(hash, 'key', anonymous, 'POST /x', {}), /needs a client/)
})

t.test('guests whose e-mails are equal only by Unicode case folding do not share a key', async (t) => {
  const kelvin: Actor = { ...guest, guest_email: '\u212aim@example.com' }
  t.not(of(kelvin, 'key').id, of({ ...guest, guest_email: 'kim@example.com' }, 'key').id)
})

t.test('the request fingerprint ignores only the order of object keys', async (t) => {
  const fingerprintOf = (body: unknown) => of(session, 'key', body).fingerprint
  t.equal(fingerprintOf({ a: 1, b: { c: [1, 2], d: null } }), fingerprintOf({ b: { d: null, c: [1, 2] }, a: 1 }))
  const bodies = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: null }, {}, { a: 1, b: 1 }, { a: [1, 2] }, { a: [2, 1] }]
  t.equal(new Set(bodies.map(fingerprintOf)).size, bodies.length)
})

t.test('empty, too long, repeated and unprintable idempotency keys are rejected [10.1-key-format]', async (t) => {
  for (const key of ['', 'x'.repeat(256), 'a\nb', 'é', ['a', 'b']])
    t.throws(() => requestIdentity(hash, key, session, 'POST /x', {}), { code: 'invalid_request' })
  t.ok(of(session, 'x'.repeat(255)).id)
})

t.test('the id of a request whose caller is known by an e-mail cannot be guessed without the secret', async (t) => {
  const idOf = (secret: string, actor: Actor) =>
    requestIdentity(hashWith(secret), 'key', actor, 'POST /x', {}, { ip: '192.0.2.1', guest_email: 'ada@example.com' })
      .id
  for (const actor of [guest, anonymous]) t.not(idOf('secret', actor), idOf('other', actor), actor.kind)
  t.equal(idOf('secret', session), idOf('other', session), 'a user id says nothing about the person')
})
