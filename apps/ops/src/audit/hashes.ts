// The files of proofs: what `audit prove payment` and `audit consistency` write, and everyone can verify.
import type { LeafFields } from '@paylog/audit-log/leaf'
import { ProofError } from '@paylog/audit-log/proofs'
import { hashBytes } from '@paylog/audit-log/tree'
import { type Static, type TProperties, Type } from 'typebox'
import { Value } from 'typebox/value'
import { visible } from '../texts.ts'

/** Raised whenever the layout changes. */
export const format = 1

const Hashes = Type.Array(Type.String())

/** What is not verified must not be there: a reader would believe it. */
const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

/** An event with the bytes that were recorded: as text if they are UTF-8, otherwise in base64. */
const ProvenEvent = closed({
  /** Of its leaf. */
  index: Type.Integer({ minimum: 0 }),
  stream: Type.String(),
  revision: Type.String({ pattern: '^\\d{1,20}$' }),
  id: Type.String(),
  type: Type.String(),
  data: Type.Optional(Type.String()),
  data_base64: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.String()),
  metadata_base64: Type.Optional(Type.String()),
  proof: Hashes,
})
export type ProvenEvent = Static<typeof ProvenEvent>

const ProofFile = closed({
  format: Type.Literal(format),
  /** The id of the payment. */
  payment: Type.String(),
  /** The signed note. */
  checkpoint: Type.String(),
  events: Type.Array(ProvenEvent),
})
export type ProofFile = Static<typeof ProofFile>

/**
 * @returns the reason, in words that follow the name of the file, when it is none; `isForged` when it is one with members that
 *   nothing proves
 */
export function parseProofFile(text: string): ProofFile | { readonly problem: string; readonly isForged?: true } {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return { problem: 'is not JSON' }
  }
  const given = typeof content === 'object' && content !== null && 'format' in content ? content.format : format
  if (given !== format) return { problem: `has format ${given}, and this program supports format ${format} only` }
  const repeated = repeatedMember(text)
  if (repeated !== undefined) return { problem: `proves nothing: it has ${visible(repeated)} twice`, isForged: true }
  if (Value.Check(ProofFile, content)) return content
  const errors = [...Value.Errors(ProofFile, content)]
  const unknown = errors.flatMap((error) =>
    error.keyword === 'additionalProperties' ? error.params.additionalProperties : [],
  )
  if (unknown.length > 0)
    return {
      problem: `proves nothing: it has "${visible(String(unknown[0]))}", which is not a part of a proof`,
      isForged: true,
    }
  const [first] = errors
  return {
    problem: `is not the proof of a payment: ${first?.instancePath || 'the file'} ${first?.message ?? 'is wrong'}`,
  }
}

/** The first name that an object has twice: of readers, some see the first member, and some the last. @param text valid JSON */
function repeatedMember(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const [token, name] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (name !== undefined) {
      const key = JSON.parse(name)
      if (open.at(-1)?.has(key)) return name
      open.at(-1)?.add(key)
    }
  }
  return undefined
}

export function provenEvent(event: LeafFields, index: number, proof: readonly Buffer[]): ProvenEvent {
  const { stream, revision, id, type, data, metadata } = event
  return {
    index,
    stream,
    revision: revision.toString(),
    id,
    type,
    ...content('data', data),
    ...content('metadata', metadata),
    proof: encodedHashes(proof),
  }
}

/** @throws ProofError unless data and metadata are there once each */
export function leafFieldsOf(event: ProvenEvent): LeafFields {
  const { stream, revision, id, type } = event
  const data = bytesOf('data', event.data, event.data_base64)
  const metadata = bytesOf('metadata', event.metadata, event.metadata_base64)
  return { stream, revision: BigInt(revision), id, type, data, metadata }
}

export const encodedHashes = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'))

/** @returns why a proof is wrong; undefined when it is right @param verify throws ProofError for a wrong one */
export function problemOf(verify: () => void): string | undefined {
  try {
    verify()
    return undefined
  } catch (error) {
    if (error instanceof ProofError) return error.message
    throw error
  }
}

/** @throws ProofError for a text that is no hash */
export function decodedHashes(hashes: readonly string[]): readonly Buffer[] {
  return hashes.map((text) => {
    const hash = Buffer.from(text, 'base64')
    if (hash.length === hashBytes && hash.toString('base64') === text) return hash
    throw new ProofError('The proof has a hash that is none')
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function content<Name extends 'data' | 'metadata'>(name: Name, bytes: Uint8Array) {
  try {
    return { [name]: utf8.decode(bytes) }
  } catch {
    return { [`${name}_base64`]: Buffer.from(bytes).toString('base64') }
  }
}

function bytesOf(name: string, text: string | undefined, base64: string | undefined): Buffer {
  if (text !== undefined && base64 !== undefined) throw new ProofError(`It has both ${name} and ${name}_base64`)
  if (text === undefined && base64 === undefined) throw new ProofError(`It has neither ${name} nor ${name}_base64`)
  const bytes = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)
  // Readers differ in what they see in another text of the same bytes.
  if (text === undefined ? bytes.toString('base64') !== base64 : !text.isWellFormed())
    throw new ProofError(`Its ${name} is not a text of bytes`)
  return bytes
}
