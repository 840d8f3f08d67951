// Authorize.Net's signature: HMAC over the bytes, with the key as text.
import { createHmac } from 'node:crypto'
import t from 'tap'
import { createAuthorizeNet } from './authorizeNet.ts'

/** Authorize.Net's published test vector. */
const key =
  '52CB4A002C634B84E397DC8A218E1A160BA7CAB7CBE4C05B35E9CBB05E14FE4A2385812E980CCF97D177F17863CE214D1BE6CE8E1E894487AACF3609C1A5FE17'
const body =
  '{"notificationId":"182cbbff-cab2-4080-931d-80e5d818f23a","eventType":"net.authorize.payment.authcapture.created","eventDate":"2017-08-18T20:40:52.7722007Z","webhookId":"849eb87e-078a-4169-a34b-c0bded5019a8","payload":{"responseCode":0,"authCode":"Z3PV5H","avsResponse":"Y","authAmount":0.0,"entityName":"transaction","id":"40005915599"}}'
const digest =
  'A1E0CC0F8A7B6274E0951CAC5EB63579F70FC6B7B15384B146DCE02B98DEE3954A5A8E331661B51DE953E141E88994DFA7D267FFB8428BE0660511B6EFB94960'

const otherKey = '00112233445566778899AABBCCDDEEFF'.repeat(4)
const sign = (by: string | Buffer, text = body) =>
  `sha512=${createHmac('sha512', by).update(text).digest('hex').toUpperCase()}`

function verify(signatureKeys: readonly string[], header: string | string[] | undefined, text = body) {
  const provider = createAuthorizeNet({
    apiLoginId: 'login',
    transactionKey: 'key',
    signatureKeys,
    pageUrl: null,
    hostedFormUrl: 'https://test.authorize.net/payment/payment',
    apiBase: 'http://127.0.0.1:9',
    timeoutMs: 1000,
    maxPerSecond: 0,
  })
  const headers = { 'x-anet-signature': header }
  return provider.verifyNotification({ body: Buffer.from(text), headers, now: new Date() })
}

const invalidSignature = { name: 'DomainError', code: 'invalid_signature' }

t.test(
  'Authorize.Net: the published signature vector is valid in upper and lower case [6.1-gateway-signature]',
  async (t) => {
    await t.resolves(verify([key], `sha512=${digest}`))
    await t.resolves(verify([key], `sha512=${digest.toLowerCase()}`))
    await t.resolves(verify([key], `SHA512=${digest}`))
  },
)

t.test('Authorize.Net: a signature key in lower case is normalised to upper case', async (t) => {
  await t.resolves(verify([key.toLowerCase()], `sha512=${digest}`))
  await t.rejects(
    verify([key.toLowerCase()], sign(key.toLowerCase())),
    invalidSignature,
    'the HMAC key is the upper-case text',
  )
})

t.test('Authorize.Net: a signature key of an unusual form is used unchanged', async (t) => {
  await t.resolves(verify(['a made-up Key'], sign('a made-up Key')))
  await t.rejects(verify(['a made-up Key'], sign('A MADE-UP KEY')), invalidSignature)
})

t.test('Authorize.Net: during a rotation both signature keys are valid, and no other', async (t) => {
  await t.resolves(verify([otherKey, key], `sha512=${digest}`))
  await t.resolves(verify([otherKey, key], sign(otherKey)))
  await t.rejects(verify([otherKey], `sha512=${digest}`), invalidSignature)
  await t.rejects(verify([], `sha512=${digest}`), invalidSignature)
})

t.test('Authorize.Net: the signature key is text, not decoded bytes', async (t) => {
  await t.rejects(verify([key], sign(Buffer.from(key, 'hex'))), invalidSignature)
})

t.test('Authorize.Net: changed bytes fail the signature check', async (t) => {
  await t.rejects(
    verify([key], `sha512=${digest}`, JSON.stringify(JSON.parse(body))),
    invalidSignature,
    're-serialised: 0.0 becomes 0',
  )
  await t.rejects(verify([key], `sha512=${digest}`, `${body} `), invalidSignature)
  await t.rejects(verify([key], `sha512=${digest}`, body.replace('40005915599', '40005915598')), invalidSignature)
})

t.test('Authorize.Net: missing, malformed and repeated signature headers are invalid_signature', async (t) => {
  const forged = `sha512=${digest.slice(0, -1)}${digest.endsWith('0') ? '1' : '0'}`
  for (const header of [
    undefined,
    '',
    digest,
    'sha512=',
    `sha256=${digest}`,
    `sha512=${digest.slice(1)}`,
    `sha512=${digest}00`,
    `sha512=${digest.slice(0, -1)}g`,
    forged,
  ])
    await t.rejects(verify([key], header), invalidSignature, String(header))
  await t.rejects(verify([key], [`sha512=${digest}`, `sha512=${digest}`]), invalidSignature, 'two headers')
})
