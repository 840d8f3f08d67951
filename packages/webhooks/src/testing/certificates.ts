// Creates X.509 certificates for test endpoints without an external program.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export type Certificate = { readonly key: string; readonly cert: string }
export type Authority = { readonly name: string; readonly key: KeyObject; readonly cert: string }

type Subject = {
  /** The host name; an authority has none. */
  readonly host?: string
  readonly notBefore?: Date
  readonly notAfter?: Date
}

const dayMs = 86_400_000
const ecdsaWithSha256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))

/** A new certificate authority, not trusted by default. */
export function createAuthority(name: string): Authority {
  const { publicKey, privateKey } = newKeys()
  return { name, key: privateKey, cert: certificate({ subject: name, publicKey }, { name, key: privateKey }, {}) }
}

/** A certificate for a host, currently valid by default. */
export function issue(authority: Authority, { host, ...period }: Subject & { readonly host: string }): Certificate {
  const { publicKey, privateKey } = newKeys()
  const cert = certificate({ subject: host, publicKey }, authority, { host, ...period })
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert }
}

/** A self-signed certificate. */
export function selfSigned(host: string): Certificate {
  const { publicKey, privateKey } = newKeys()
  const cert = certificate({ subject: host, publicKey }, { name: host, key: privateKey }, { host })
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert }
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
}

function certificate(
  { subject, publicKey }: { subject: string; publicKey: KeyObject },
  issuer: { readonly name: string; readonly key: KeyObject },
  { host, notBefore = new Date(Date.now() - dayMs), notAfter = new Date(Date.now() + dayMs) }: Subject,
): string {
  const toBeSigned = sequence(
    tagged(0xa0, integer(2)),
    integer(Math.floor(Math.random() * 2 ** 31) + 1),
    ecdsaWithSha256,
    distinguishedName(issuer.name),
    sequence(utcTime(notBefore), utcTime(notAfter)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(host === undefined ? basicConstraintsOfAuthority() : alternativeName(host))),
  )
  const signature = tagged(0x03, Buffer.from([0]), sign('sha256', toBeSigned, issuer.key))
  const der = sequence(toBeSigned, ecdsaWithSha256, signature)
  const lines = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

function basicConstraintsOfAuthority(): Buffer {
  const isAuthority = tagged(0x01, Buffer.from([0xff]))
  return sequence(objectId(0x55, 0x1d, 0x13), isAuthority, tagged(0x04, sequence(isAuthority)))
}

function alternativeName(host: string): Buffer {
  return sequence(objectId(0x55, 0x1d, 0x11), tagged(0x04, sequence(tagged(0x82, Buffer.from(host)))))
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId(0x55, 0x04, 0x03), tagged(0x0c, Buffer.from(commonName)))))
}

function utcTime(time: Date): Buffer {
  return tagged(
    0x17,
    Buffer.from(
      `${time
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')
        .slice(2)}`,
    ),
  )
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(5)
  bytes.writeUInt32BE(value, 1)
  const firstNeeded = bytes.findIndex((byte, index) => byte !== 0 || index === 4)
  // A leading 1 bit would make the integer negative.
  return tagged(0x02, bytes.subarray((bytes[firstNeeded] ?? 0) > 0x7f ? firstNeeded - 1 : firstNeeded))
}

function objectId(...bytes: number[]): Buffer {
  return tagged(0x06, Buffer.from(bytes))
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts)
}

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
