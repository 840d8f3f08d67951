// Stripe's signature: what is accepted, and every way in which it is not.
import { createHmac } from 'node:crypto'
import { signEvent } from '@paylog/testing/stripe/events'
import Stripe from 'stripe'
import t from 'tap'
import { verifyStripeSignature } from './notifications.ts'

const secret = 'whsec_example'
const now = new Date('2026-01-01T12:00:00.000Z')
const unixNow = now.getTime() / 1000
const body = '{"id":"evt_1","amount":300.00}'
const refused = { code: 'invalid_signature' }

const hexOf = (text: string | Buffer, by = secret, t = `${unixNow}`) =>
  createHmac('sha256', by).update(`${t}.`).update(text).digest('hex')
const header = (text: string | Buffer = body, by = secret, at = unixNow) => `t=${at},v1=${hexOf(text, by, `${at}`)}`
const verify = (given: string | string[] | undefined, text: string | Buffer = body, secrets = [secret]) =>
  verifyStripeSignature(secrets, given, Buffer.from(text), now)

t.test('accepts what Stripe signed, and agrees with its package [6.1-card-signature]', async (t) => {
  const signed = signEvent({ id: 'evt_1' }, { secrets: [secret], at: now })
  const theirs = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: unixNow })
  t.doesNotThrow(() => verify(signed.headers['stripe-signature'], signed.body))
  t.doesNotThrow(() => verify(theirs))
  const read = Stripe.webhooks.constructEvent(
    signed.body,
    signed.headers['stripe-signature'] ?? '',
    secret,
    300,
    undefined,
    now.getTime(),
  )
  t.equal(read.id, 'evt_1', 'the fake signs what the package accepts')
})

t.test('accepts any signature of the scheme by any secret', async (t) => {
  const old = hexOf(body, 'whsec_old')
  t.doesNotThrow(() => verify(`t=${unixNow},v1=${old},v1=${hexOf(body)}`), 'the second one')
  t.doesNotThrow(() => verify(`t=${unixNow},v1=${hexOf(body)},v1=${old}`), 'the first one')
  t.doesNotThrow(() => verify(header(body, 'whsec_old'), body, [secret, 'whsec_old']), 'the second secret')
  t.doesNotThrow(() => verify(`t=${unixNow},v0=${'0'.repeat(64)},v1=${hexOf(body)},v2=x`), 'beside other schemes')
  t.throws(() => verify(`t=${unixNow},v0=${hexOf(body)}`), refused, 'not by another scheme')
  t.throws(() => verify(header(), body, []), refused, 'not without a secret')
})

t.test('refuses what was not signed as it came', async (t) => {
  t.throws(() => verify(header(body, 'whsec_other')), refused, 'a wrong key')
  t.throws(() => verify(header(body, Buffer.from('example', 'base64').toString('latin1'))), refused, 'a decoded key')
  t.throws(() => verify(header(), `${body} `), refused, 'one more byte')
  t.throws(() => verify(header(), JSON.stringify(JSON.parse(body))), refused, 'written anew')
  t.throws(() => verify(`t=${unixNow + 1},v1=${hexOf(body)}`), refused, 'another time')
  t.throws(() => verify(`t=${unixNow},v1=${'0'.repeat(64)}`), refused, 'made up')
})

t.test('looks at the bytes, of which several decode to the same text', async (t) => {
  t.throws(() => verify(header(), `\ufeff${body}`), refused, 'a byte order mark')
  const broken = Buffer.from([0x22, 0xff, 0x22])
  t.throws(() => verify(header(Buffer.from('"\ufffd"')), broken), refused, 'bytes that are no text')
  t.doesNotThrow(() => verify(header(broken), broken), 'unless they were signed')
})

t.test('refuses signatures of another time, in both directions', async (t) => {
  for (const at of [unixNow - 300, unixNow + 300]) t.doesNotThrow(() => verify(header(body, secret, at)), `${at}`)
  for (const at of [unixNow - 301, unixNow + 301]) t.throws(() => verify(header(body, secret, at)), refused, `${at}`)
})

t.test('refuses headers of another form', async (t) => {
  const hex = hexOf(body)
  const malformed = [
    undefined,
    '',
    [header(), header()],
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
  for (const given of malformed) t.throws(() => verify(given), refused, JSON.stringify(given) ?? 'none')
})
