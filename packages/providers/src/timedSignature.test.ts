// Signatures with a time, as Stripe's and the sandbox's: accepted and rejected headers.
import { createHmac } from 'node:crypto'
import { signEvent } from '@paylog/testing/stripe/events'
import Stripe from 'stripe'
import t from 'tap'
import { signWithTime, verifyTimedSignature } from './timedSignature.ts'

const secret = 'whsec_example'
const now = new Date('2026-01-01T12:00:00.000Z')
const unixNow = now.getTime() / 1000
const body = '{"id":"evt_1","amount":300.00}'
const invalidSignature = { code: 'invalid_signature' }

const hexOf = (text: string | Buffer, by = secret, t = `${unixNow}`) =>
  createHmac('sha256', by).update(`${t}.`).update(text).digest('hex')
const header = (text: string | Buffer = body, by = secret, at = unixNow) => `t=${at},v1=${hexOf(text, by, `${at}`)}`
const verify = (given: string | string[] | undefined, text: string | Buffer = body, secrets = [secret]) =>
  verifyTimedSignature('x-signature', secrets, { headers: { 'x-signature': given }, body: Buffer.from(text), now })

t.test('Stripe: a valid signature is accepted, by us and by the stripe package [6.1-card-signature]', async (t) => {
  const signed = signEvent({ id: 'evt_1' }, { secrets: [secret], at: now })
  const theirs = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: unixNow })
  t.doesNotThrow(() => verify(signed.headers['stripe-signature'], signed.body))
  t.doesNotThrow(() => verify(theirs))
  t.equal(signWithTime(secret, body, unixNow), theirs)
  const read = Stripe.webhooks.constructEvent(
    signed.body,
    signed.headers['stripe-signature'] ?? '',
    secret,
    300,
    undefined,
    now.getTime(),
  )
  t.equal(read.id, 'evt_1', 'the package accepts the fake’s signature')
})

t.test('any v1 signature by any valid secret is accepted', async (t) => {
  const old = hexOf(body, 'whsec_old')
  t.doesNotThrow(() => verify(`t=${unixNow},v1=${old},v1=${hexOf(body)}`), 'the second one')
  t.doesNotThrow(() => verify(`t=${unixNow},v1=${hexOf(body)},v1=${old}`), 'the first one')
  t.doesNotThrow(() => verify(header(body, 'whsec_old'), body, [secret, 'whsec_old']), 'the second secret')
  t.doesNotThrow(() => verify(`t=${unixNow},v0=${'0'.repeat(64)},v1=${hexOf(body)},v2=x`), 'next to other schemes')
  t.throws(() => verify(`t=${unixNow},v0=${hexOf(body)}`), invalidSignature, 'only another scheme')
  t.throws(() => verify(header(), body, []), invalidSignature, 'without a secret')
})

t.test('a wrong key, changed body or other time is invalid_signature', async (t) => {
  t.throws(() => verify(header(body, 'whsec_other')), invalidSignature, 'a wrong key')
  t.throws(
    () => verify(header(body, Buffer.from('example', 'base64').toString('latin1'))),
    invalidSignature,
    'a decoded key',
  )
  t.throws(() => verify(header(), `${body} `), invalidSignature, 'one more byte')
  t.throws(() => verify(header(), JSON.stringify(JSON.parse(body))), invalidSignature, 're-serialised')
  t.throws(() => verify(`t=${unixNow + 1},v1=${hexOf(body)}`), invalidSignature, 'another time')
  t.throws(() => verify(`t=${unixNow},v1=${'0'.repeat(64)}`), invalidSignature, 'invented')
})

t.test('the signature is checked on the bytes, not on the decoded text', async (t) => {
  t.throws(() => verify(header(), `\ufeff${body}`), invalidSignature, 'a byte order mark')
  const broken = Buffer.from([0x22, 0xff, 0x22])
  t.throws(() => verify(header(Buffer.from('"\ufffd"')), broken), invalidSignature, 'bytes that are not UTF-8')
  t.doesNotThrow(() => verify(header(broken), broken), 'signed as they are')
})

t.test('a signature more than 300 seconds in the past or future is invalid_signature', async (t) => {
  for (const at of [unixNow - 300, unixNow + 300]) t.doesNotThrow(() => verify(header(body, secret, at)), `${at}`)
  for (const at of [unixNow - 301, unixNow + 301])
    t.throws(() => verify(header(body, secret, at)), invalidSignature, `${at}`)
})

t.test('a malformed signature header is invalid_signature', async (t) => {
  const hex = hexOf(body)
  const malformed = [
    undefined,
    '',
    [header(), header()],
    `${header()}, ${header()}`,
    `v1=${hex}`,
    `t=${unixNow}`,
    `t=,v1=${hexOf(body, secret, '')}`,
    `t=${unixNow},v1=`,
    `t=${unixNow},v1=${hex.slice(1)}`,
    `t=${unixNow},v1=${hex.toUpperCase()}`,
    `t=${unixNow}, v1=${hex}`,
    `t=${unixNow},t=${unixNow},v1=${hex}`,
    `t=${unixNow}x,v1=${hexOf(body, secret, `${unixNow}x`)}`,
    `t=-${unixNow},v1=${hexOf(body, secret, `-${unixNow}`)}`,
    `t=1e9,v1=${hexOf(body, secret, '1e9')}`,
  ]
  for (const given of malformed) t.throws(() => verify(given), invalidSignature, JSON.stringify(given) ?? 'none')
})
