// Signed notes (c2sp.org/signed-note) with Ed25519, as Paylog signs the checkpoints of its log with. WebCrypto does the work, so that
// it runs in Node and in browsers.

import { VerificationError } from './errors.ts'

type Bytes = Uint8Array<ArrayBuffer>

type VerifierKey = { readonly name: string; readonly id: Bytes; readonly bytes: Bytes }
type Signature = { readonly name: string; readonly id: Bytes; readonly bytes: Bytes }

const ed25519 = 1
const keyBytes = 32
const idBytes = 4
const maxNoteLength = 1_000_000
const maxSignatures = 100

/**
 * Verifies a note. Signatures of other keys are ignored.
 * @param verifierKeys `<name>+<id in hex>+<base64>`, as `ops audit key` prints them
 * @returns the text of the note, and the names of the keys that signed it: one at least
 * @throws VerificationError when none of the keys signed it, or the signature of one of them is wrong
 */
export async function openNote(
  note: string,
  verifierKeys: readonly string[],
): Promise<{ readonly text: string; readonly signers: readonly string[] }> {
  const { text, signatures } = splitNote(note)
  const signers: string[] = []
  for (const verifierKey of verifierKeys) {
    const key = await parseVerifierKey(verifierKey)
    const found = signatures.find(({ name, id }) => name === key.name && isSame(id, key.id))
    if (found === undefined) continue
    if (!(await isSignedBy(key, found, text)))
      throw new VerificationError('proof', `The signature of ${key.name} is wrong`)
    signers.push(key.name)
  }
  if (signers.length === 0) throw new VerificationError('proof', 'The note has no signature of a known key')
  return { text, signers }
}

async function isSignedBy({ bytes }: VerifierKey, signature: Signature, text: string): Promise<boolean> {
  const subtle = subtleCrypto()
  const key = await subtle.importKey('raw', bytes, 'Ed25519', false, ['verify']).catch((cause: unknown) => {
    throw new VerificationError('platform', 'Ed25519 is not supported here', { cause })
  })
  return await subtle.verify('Ed25519', key, signature.bytes, utf8(text))
}

function splitNote(note: string): { readonly text: string; readonly signatures: readonly Signature[] } {
  const fail = (message: string) => new VerificationError('proof', message)
  if (note.length > maxNoteLength) throw fail('The note is too long')
  const hasControl = [...note].some((character) => character < ' ' && character !== '\n')
  if (hasControl || !isWellFormed(note)) throw fail('A note is text without control characters')
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) throw fail('The note has no signatures')
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > maxSignatures) throw fail('The note has too many signatures')
  const signatures = lines.map((line) => {
    const { name = '', encoded = '' } = /^— (?<name>\S+) (?<encoded>\S+)$/u.exec(line)?.groups ?? {}
    const bytes = fromBase64(encoded)
    if (!isName(name) || bytes === undefined || bytes.length <= idBytes)
      throw fail('The note has a malformed signature')
    return { name, id: bytes.slice(0, idBytes), bytes: bytes.slice(idBytes) }
  })
  return { text: note.slice(0, end + 1), signatures }
}

async function parseVerifierKey(text: string): Promise<VerifierKey> {
  const form = /^(?<name>[^+]+)\+(?<hex>[0-9a-f]{8})\+(?<encoded>.+)$/u
  const { name = '', hex = '', encoded = '' } = form.exec(text.trim())?.groups ?? {}
  const content = fromBase64(encoded)
  if (!isName(name) || content === undefined || content.length !== 1 + keyBytes || content[0] !== ed25519)
    throw new VerificationError('key', 'The key is not an Ed25519 key of the form <name>+<id>+<base64>')
  const id = (await sha256(utf8(`${name}\n`), content)).slice(0, idBytes)
  if (hexOf(id) !== hex) throw new VerificationError('key', 'The key does not have the id that it names')
  return { name, id, bytes: content.slice(1) }
}

const hexOf = (bytes: Bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Unicode spaces: U+0085 is none for JavaScript. */
const isName = (name: string) => /^[^\s\u0085+]+$/u.test(name)

/** SHA-256 of the parts, one after the other. @throws VerificationError on a page without TLS */
export async function sha256(...parts: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await subtleCrypto().digest('SHA-256', joined(parts)))
}

function subtleCrypto(): typeof crypto.subtle {
  const { subtle }: { readonly subtle?: typeof crypto.subtle } = globalThis.crypto
  if (subtle !== undefined) return subtle
  throw new VerificationError('platform', 'A page without TLS cannot verify anything')
}

export function joined(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

export const utf8 = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text))

/** Whether the text has no half of a pair of surrogates. */
export const isWellFormed = (text: string): boolean =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(utf8(text)) === text

/** @returns undefined for what is not the base64 of bytes, in its one spelling */
export function fromBase64(text: string): Bytes | undefined {
  try {
    const binary = atob(text)
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined
  } catch {
    return undefined
  }
}

export const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])
