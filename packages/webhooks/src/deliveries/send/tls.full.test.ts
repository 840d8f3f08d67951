import { createServer, getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import t, { type Test } from 'tap'
import { type Certificate, createAuthority, issue, selfSigned } from '../../testing/certificates.ts'
import { createPoster, listening } from '../../testing/webhookPoster.ts'

const hourMs = 3_600_000
const known = createAuthority('Example Authority')
const unknown = createAuthority('Unknown Authority')
setDefaultCACertificates([...getCACertificates('default'), known.cert])

/** An endpoint with this certificate. @returns its port and the received requests */
async function secureEndpoint(t: Test, certificate: Certificate, options: TlsOptions = {}) {
  const received: string[] = []
  const protocols: unknown[] = []
  const server = createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'], ...options }, (socket) => {
    protocols.push(socket.alpnProtocol)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      received.push(chunk.toString())
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')
    })
  })
  server.on('tlsClientError', () => undefined)
  const [, port] = (await listening(t, server)).split(':')
  return { url: `https://localhost:${port}/`, port, received, protocols }
}

t.test('a certificate from a known authority for the host is accepted', async (t) => {
  const endpoint = await secureEndpoint(t, issue(known, { host: 'localhost' }))
  t.match(await createPoster(t)(endpoint.url), { httpStatus: 200, error: null, code: null })
  t.match(endpoint.received.join(''), /^POST \/ HTTP\/1\.1\r\n/)
  t.same(endpoint.protocols, ['http/1.1'], 'HTTP/2 is not offered')
})

t.test('every other certificate is rejected before anything is sent, with a code that names the reason', async (t) => {
  const post = createPoster(t)
  const now = Date.now()
  const bad: Readonly<Record<string, Certificate>> = {
    CERT_HAS_EXPIRED: issue(known, { host: 'localhost', notAfter: new Date(now - hourMs) }),
    CERT_NOT_YET_VALID: issue(known, {
      host: 'localhost',
      notBefore: new Date(now + hourMs),
      notAfter: new Date(now + 2 * hourMs),
    }),
    DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned('localhost'),
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: issue(unknown, { host: 'localhost' }),
    ERR_TLS_CERT_ALTNAME_INVALID: issue(known, { host: 'hooks.example.com' }),
  }
  for (const [code, certificate] of Object.entries(bad)) {
    const endpoint = await secureEndpoint(t, certificate)
    t.match(await post(endpoint.url), { httpStatus: null, error: 'tls', code, responseBody: null })
    t.same(endpoint.received, [], `${code}: nothing is sent`)
  }
})

t.test('NODE_TLS_REJECT_UNAUTHORIZED does not disable certificate checks', async (t) => {
  const { env } = process
  env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => delete env.NODE_TLS_REJECT_UNAUTHORIZED)
  const endpoint = await secureEndpoint(t, selfSigned('localhost'))
  t.match(await createPoster(t)(endpoint.url), { error: 'tls', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
})

t.test('an https URL with an IP address needs a certificate for that address', async (t) => {
  const endpoint = await secureEndpoint(t, issue(known, { host: 'localhost' }))
  const { error, code } = await createPoster(t)(`https://127.0.0.1:${endpoint.port}/`)
  t.same({ error, code }, { error: 'tls', code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

t.test('an endpoint without a common TLS version fails with the class tls', async (t) => {
  const certificate = issue(known, { host: 'localhost' })
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const endpoint = await secureEndpoint(t, certificate, old)
  t.match(await createPoster(t)(endpoint.url), { httpStatus: null, error: 'tls' })
})

t.test('plain HTTP to a TLS port fails, and so does TLS to a plain HTTP port', async (t) => {
  const post = createPoster(t)
  const plain = await startFakeEndpoint(t)
  t.match(await post(plain.url.replace('http:', 'https:')), { httpStatus: null, error: 'tls' })
  t.equal(plain.received.length, 0)
  const secure = await secureEndpoint(t, issue(known, { host: 'localhost' }))
  const { httpStatus, error } = await post(secure.url.replace('https:', 'http:'))
  t.equal(httpStatus, null)
  t.match(error, /^(invalid_response|connection_reset)$/)
})
