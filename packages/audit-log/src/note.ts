// Signed notes (c2sp.org/signed-note) with Ed25519, and keys in the text format of Go's sumdb/note.
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign, verify } from 'node:crypto'

export type SigningKey = {
  readonly name: string
  /** The text of the key that verifies its notes. */
  readonly verifierKey: string
  /** The key's id. */
  readonly id: Buffer
  readonly key: KeyObject
}

export type VerifierKey = Pick<SigningKey, 'name' | 'id' | 'key' | 'verifierKey'>

/** A key or a note that cannot be used, or a signature that is wrong. The message is a sentence and shows no private key. */
export class NoteError extends Error {
  override readonly name = 'NoteError'
}

const ed25519 = 1
const keyBytes = 32
const privatePrefix = 'PRIVATE+KEY+'
/** What precedes the 32 bytes of a private key in PKCS #8. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const maxNoteLength = 1_000_000
const maxSignatures = 100

/**
 * A new pair of keys as texts.
 * @param name the origin of the notes, such as `example.com/payments`: without spaces and plus signs
 * @throws NoteError for another name
 */
export function newSigningKey(name: string): { readonly signingKey: string; readonly verifierKey: string } {
  requireName(name)
  const { privateKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(pkcs8Prefix.length)
  const id = keyId(name, publicBytes(privateKey)).toString('hex')
  const signingKey = `${privatePrefix}${name}+${id}+${Buffer.of(ed25519, ...seed).toString('base64')}`
  return { signingKey, verifierKey: parseSigningKey(signingKey).verifierKey }
}

/** @param text `PRIVATE+KEY+<name>+<id in hex>+<base64>` @throws NoteError */
export function parseSigningKey(text: string): SigningKey {
  const trimmed = text.trim()
  if (!trimmed.startsWith(privatePrefix)) throw new NoteError(`A signing key begins with ${privatePrefix}`)
  const { name, id, bytes } = parseKey(trimmed.slice(privatePrefix.length))
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, bytes]), format: 'der', type: 'pkcs8' })
  const verifying = publicBytes(key)
  requireId(name, id, verifying)
  const encoded = Buffer.of(ed25519, ...verifying).toString('base64')
  return { name, id, key, verifierKey: `${name}+${id.toString('hex')}+${encoded}` }
}

/** @param text `<name>+<id in hex>+<base64>` @throws NoteError */
export function parseVerifierKey(text: string): VerifierKey {
  const verifierKey = text.trim()
  const { name, id, bytes } = parseKey(verifierKey)
  requireId(name, id, bytes)
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
    format: 'jwk',
  })
  return { name, id, key, verifierKey }
}

/** @param text keys, separated by commas or line feeds @throws NoteError */
export const parseVerifierKeys = (text: string): readonly VerifierKey[] =>
  text.split(/[,\n]/).flatMap((part) => (part.trim() === '' ? [] : [parseVerifierKey(part)]))

/**
 * @param text ends with a line feed
 * @param keys which sign it, in this order
 * @returns the note
 * @throws NoteError for a text that a note cannot hold
 */
export function signNote(text: string, ...keys: readonly SigningKey[]): string {
  requireText(text)
  if (!text.endsWith('\n')) throw new NoteError('The text of a note ends with a line feed')
  const lines = keys.map(({ name, id, key }) => {
    const signature = Buffer.concat([id, sign(null, Buffer.from(text), key)])
    return `— ${name} ${signature.toString('base64')}\n`
  })
  return `${text}\n${lines.join('')}`
}

/**
 * The text of a note, and the names of the keys that signed it. Signatures of other keys are ignored.
 * @throws NoteError when it is no note, none of the keys signed it, or the signature of one of them is wrong
 */
export function openNote(
  note: string,
  ...verifiers: readonly VerifierKey[]
): { readonly text: string; readonly signers: readonly string[] } {
  const { text, signatures } = splitNote(note)
  const signers = verifiers.flatMap((verifier) => {
    const found = signatures.find(({ name, id }) => name === verifier.name && id.equals(verifier.id))
    if (found === undefined) return []
    if (verify(null, Buffer.from(text), verifier.key, found.signature)) return [found.name]
    throw new NoteError(`The signature of ${found.name} is wrong`)
  })
  if (signers.length === 0) throw new NoteError('The note has no signature of a known key')
  return { text, signers }
}

/** The text of a note whose signatures are not checked. @throws NoteError when it is no note */
export const noteText = (note: string): string => splitNote(note).text

/** @returns undefined when the key or the note is wrong */
export function unlessWrong<Result>(open: () => Result): Result | undefined {
  try {
    return open()
  } catch (error) {
    if (error instanceof NoteError) return undefined
    throw error
  }
}

type Signature = { readonly name: string; readonly id: Buffer; readonly signature: Buffer }

function splitNote(note: string): { readonly text: string; readonly signatures: readonly Signature[] } {
  if (note.length > maxNoteLength) throw new NoteError('The note is too long')
  requireText(note)
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) throw new NoteError('The note has no signatures')
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > maxSignatures) throw new NoteError('The note has too many signatures')
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

function parseSignature(line: string): Signature {
  const { name = '', encoded = '' } = /^— (?<name>\S+) (?<encoded>\S+)$/u.exec(line)?.groups ?? {}
  const bytes = decodeBase64(encoded)
  if (!isName(name) || bytes === undefined || bytes.length < 5)
    throw new NoteError('The note has a malformed signature')
  return { name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) }
}

function parseKey(text: string): { readonly name: string; readonly id: Buffer; readonly bytes: Buffer } {
  const {
    name = '',
    id = '',
    encoded = '',
  } = /^(?<name>[^+]+)\+(?<id>[0-9a-f]{8})\+(?<encoded>.+)$/u.exec(text)?.groups ?? {}
  requireName(name)
  const bytes = decodeBase64(encoded)
  if (bytes === undefined || bytes.length !== 1 + keyBytes || bytes[0] !== ed25519)
    throw new NoteError('The key is not an Ed25519 key of the form <name>+<id>+<base64>')
  return { name, id: Buffer.from(id, 'hex'), bytes: bytes.subarray(1) }
}

function requireId(name: string, id: Buffer, verifying: Uint8Array): void {
  if (!id.equals(keyId(name, verifying))) throw new NoteError('The key does not have the id that it names')
}

function keyId(name: string, verifying: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ed25519), verifying]), 'buffer').subarray(
    0,
    4,
  )
}

function publicBytes(privateKey: KeyObject): Buffer {
  return Buffer.from(String(createPublicKey(privateKey).export({ format: 'jwk' }).x), 'base64url')
}

/** Buffer ignores what is not base64. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** Unicode spaces: U+0085 is none for JavaScript. */
const isName = (name: string) => /^[^\s\u0085+]+$/u.test(name) && name.isWellFormed()

function requireName(name: string): void {
  if (!isName(name)) throw new NoteError('The name of a key is a text without spaces and plus signs')
}

function requireText(text: string): void {
  const hasControl = [...text].some((character) => character < ' ' && character !== '\n')
  if (hasControl || !text.isWellFormed()) throw new NoteError('A note is text without control characters')
}
