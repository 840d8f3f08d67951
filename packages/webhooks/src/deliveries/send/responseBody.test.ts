import t from 'tap'
import { endpointSecrets, maxStoredBytes, redactedBody, signaturesIn } from './responseBody.ts'

const whole = (text: string) => ({ text, isCut: false })
const unsigned = (url: string) => endpointSecrets({ url, secrets: [] })
const key = 'dGhpcyBpcyBh/bm90aGVyIGtleSBvZiAzMiBieXRlcyE='

t.test('a response body without secrets is stored unchanged', async (t) => {
  const secrets = unsigned('https://hooks.example.com/services/T00/B00/XXXXXXXX0XXXXXXX')
  for (const text of ['', 'ok', 'no_service', 'Cannot POST /services/', 'hooks.example.com']) {
    t.equal(redactedBody(whole(text), secrets), text)
  }
})

t.test('parts of the URL that may be keys are redacted wherever they appear [10.4-url-secrets]', async (t) => {
  const urls = {
    'https://hooks.example.com/services/T00/B00/XXXXXXXX0XXXXXXX': ['XXXXXXXX0XXXXXXX'],
    'https://chat.example.com/v1/spaces/AAAA/messages?key=short1&token=a%2Fb-c%3D': ['short1', 'a%2Fb-c%3D', 'a/b-c='],
    'https://chat.example.com/hooks/abcdefghijklmnopqrstuvwxyz': ['abcdefghijklmnopqrstuvwxyz'],
    'https://api.example.com/bot123:AbC-d_e/sendMessage?chat_id=-100200300': ['bot123:AbC-d_e', '-100200300'],
    'https://en7x2kd9q1.hooks.example.com/': ['en7x2kd9q1'],
    'https://hooks.example.com/a%C3%A4bcdefg1': ['a%C3%A4bcdefg1', 'aäbcdefg1'],
  }
  for (const [url, keys] of Object.entries(urls)) {
    const { href, host, pathname, search } = new URL(url)
    const spellings = [
      ...keys,
      href,
      href.replaceAll('/', '\\/'),
      encodeURIComponent(href),
      `${host} ${pathname}${search}`,
    ]
    const kept = redactedBody(whole(spellings.map((text) => `<${text}>`).join()), unsigned(url))
    for (const text of [...keys, ...keys.map(encodeURIComponent), href])
      t.notOk(kept.includes(text), `${text} in ${kept}`)
    t.match(kept, '<[redacted]>')
  }
})

t.test('a URL with only a short path is redacted as a whole', async (t) => {
  const secrets = unsigned('http://hooks.example.com:8080/s3cr')
  t.equal(
    redactedBody(whole('at http://hooks.example.com:8080/s3cr or hooks.example.com:8080/s3cr'), secrets),
    'at [redacted] or [redacted]',
  )
})

t.test('an HTML-escaped URL is redacted', async (t) => {
  const secrets = unsigned('https://hooks.example.com/in?a=1&b=2')
  t.equal(redactedBody(whole('<p>https://hooks.example.com/in?a=1&amp;b=2</p>'), secrets), '<p>[redacted]</p>')
})

t.test('signing secrets and signatures are redacted in every encoding', async (t) => {
  const secret = `whsec_${key}`
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  const node = endpointSecrets({ url: 'https://hooks.example.com/', secrets: [secret] })
  const secrets = [...signaturesIn(`${signature} v1,${key}`), ...node]
  const bare = signature.slice(3)
  const spellings = [
    secret,
    key,
    signature,
    bare,
    key.replaceAll('/', '\\/'),
    bare.replaceAll('/', '\\/'),
    encodeURIComponent(bare),
  ]
  const kept = redactedBody(whole(spellings.join('\n')), secrets)
  t.notMatch(kept, /g0hM9|dGhpc/)
  t.equal(kept.match(/\[redacted\]/g)?.length, spellings.length)
  t.same(signaturesIn(undefined), [])
})

t.test('a secret cut off at the end of the read text is redacted', async (t) => {
  const secrets = [...signaturesIn(`v1,${key}`), ...unsigned('https://hooks.example.com/services/XXXXXXXX0XXXXXXX')]
  for (const length of [key.length - 1, 20, 6]) {
    t.equal(redactedBody({ text: `said ${key.slice(0, length)}`, isCut: true }, secrets), 'said ')
  }
  t.equal(
    redactedBody(whole('said XXXXXXXX'), secrets),
    'said XXXXXXXX',
    'a complete body may end like the start of a secret',
  )
})

t.test('redaction does not add text from beyond the size limit', async (t) => {
  const secrets = signaturesIn(`v1,${key}`)
  const text = `${key.repeat(4)}${'x'.repeat(maxStoredBytes)}`.slice(0, maxStoredBytes - 10) + key.slice(0, 10)
  const kept = redactedBody({ text, isCut: true }, secrets)
  t.match(kept, /^(\[redacted\]){4}x+$/)
})
