// Signatures with a time, as Stripe's and the sandbox's: accepted and rejected headers.
import { createHmac } from 'node:crypto'
import { signEvent } from '@paylog/testing/stripe/events'
import Stripe from 'stripe'
import t from 'tap'
import { notificationJson } from './fields.ts'
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

const isAccepted = (act: () => unknown) => {
  try {
    act()
    return true
  } catch {
    return false
  }
}
const isAcceptedByPackage = (given: string, bytes: Buffer) =>
  isAccepted(() => Stripe.webhooks.constructEvent(bytes, given, secret, 300, undefined, now.getTime()))
const isAcceptedByUs = (given: string, bytes: Buffer) =>
  isAccepted(() => [verify(given, bytes), notificationJson(bytes)])

t.test('Stripe: a valid signature is accepted, by us and by the stripe package [6.1-card-signature]', async (t) => {
  const signed = signEvent({ id: 'evt_1' }, { secrets: [secret], at: now })
  const theirs = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: unixNow })
  t.doesNotThrow(() => verify(signed.headers['stripe-signature'], signed.body))
  t.doesNotThrow(() => verify(theirs))
  t.equal(signWithTime(secret, body, unixNow), theirs)
  t.ok(isAcceptedByPackage(signed.headers['stripe-signature'] ?? '', Buffer.from(signed.body)), 'the fake’s signature')
})

t.test('Stripe: we accept no notification that the stripe package rejects', async (t) => {
  const times = [-301, -300, 0, 300, 301].map((seconds) => `${unixNow + seconds}`)
  const oddTimes = ['', '0', '-1', '1e9', `0${unixNow}`, `+${unixNow}`, `-${unixNow}`, ` ${unixNow}`, `${unixNow}x`]
  const bodies = [body, '', '{}', '{', `\ufeff${body}`, Buffer.from([0x22, 0xff, 0x22])].map((each) =>
    Buffer.from(each),
  )
  const by = { both: 0, us: [] as string[], package: 0, nobody: 0 }
  for (const time of [...times, ...oddTimes])
    for (const bytes of bodies)
      for (const signed of [bytes, new TextDecoder().decode(bytes)])
        for (const hex of [hexOf(signed, secret, time), hexOf(signed, secret, `${Number.parseInt(time, 10)}`)])
          for (const given of headersOf(time, hex)) {
            const [ours, theirs] = [isAcceptedByUs(given, bytes), isAcceptedByPackage(given, bytes)]
            if (ours && !theirs) by.us.push(`${given} ${bytes}`)
            else by[theirs ? (ours ? 'both' : 'package') : 'nobody'] += 1
          }
  t.same(by.us, [])
  t.ok(by.both > 0 && by.package > 0 && by.nobody > 0, 'each of them accepts some and rejects some')
})

const headersOf = (time: string, hex: string) => [
  `t=${time},v1=${hex}`,
  `v1=${hex},t=${time}`,
  `t=${time},v1=${'0'.repeat(64)},v1=${hex},v0=x`,
  `t=${time},v0=${hex}`,
  `t=${time}, v1=${hex}`,
  `t=${time},v1=${hex.toUpperCase()}`,
  `t=${time},v1=${hex}=x`,
  `t=1,t=${time},v1=${hex}`,
  `t=${time}`,
]

t.test('Stripe: of what the stripe package accepts, we reject what could be read in two ways', async (t) => {
  for (const [about, given, bytes] of [
    ['a time in the future', header(body, secret, unixNow + 301), body],
    ['two times', `t=1,${header()}`, body],
    ['more than a number', header().replace(',', 'x,'), body],
    ['more than a signature', `${header()}=x`, body],
    ['a byte order mark', header(), `\ufeff${body}`],
    ['bytes that are not UTF-8', header('"\ufffd"'), Buffer.from([0x22, 0xff, 0x22])],
  ] as const) {
    t.ok(isAcceptedByPackage(given, Buffer.from(bytes)), about)
    t.throws(() => verify(given, bytes), invalidSignature, about)
  }
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
    `t=0${unixNow},v1=${hexOf(body, secret, `0${unixNow}`)}`,
  ]
  for (const given of malformed) t.throws(() => verify(given), invalidSignature, JSON.stringify(given) ?? 'none')
})
