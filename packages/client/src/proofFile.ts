// The file of a proof, exactly: what nothing proves must not be in it, because a reader would believe it.
import { VerificationError } from './errors.ts'
import type { components } from './schema.ts'

/** The proof of a payment, as GET /admin/payments/{id}/proof and `ops audit prove` write it. */
export type PaymentProof = components['schemas']['PaymentProof']
export type ProvenEvent = PaymentProof['events'][number]

type Check = (value: unknown) => boolean
const isText: Check = (value) => typeof value === 'string'
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText)

/** The members of a file and of an event. */
const members: Readonly<Record<keyof PaymentProof, Check>> = {
  format: (value) => value === 1,
  payment: isText,
  checkpoint: isText,
  events: Array.isArray,
}
const eventMembers: Readonly<Record<keyof ProvenEvent, Check>> = {
  index: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  stream: isText,
  revision: (value) => typeof value === 'string' && /^\d{1,20}$/.test(value),
  id: isText,
  type: isText,
  data: isText,
  data_base64: isText,
  metadata: isText,
  metadata_base64: isText,
  proof: isTexts,
}
const optional: readonly string[] = ['data', 'data_base64', 'metadata', 'metadata_base64']

/** @throws VerificationError of the `file` when it is none; of the `proof` when it has members that nothing proves */
export function parseProof(text: string): PaymentProof {
  const content = parsed(text)
  if (!isObject(content)) throw noProof('it is not an object')
  const { format = 1, events } = content
  if (format !== 1) throw noProof(`it has format ${format}, and this program supports format 1 only`)
  const repeated = repeatedMember(text)
  if (repeated !== undefined) throw new VerificationError('proof', `it has ${repeated} twice`)
  requireMembers(content, members, 'it')
  for (const [at, event] of (Array.isArray(events) ? events : []).entries()) {
    if (!isObject(event)) throw noProof(`event ${at} is not an object`)
    requireMembers(event, eventMembers, `event ${at}`)
  }
  return content as PaymentProof
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new VerificationError('file', 'it is not JSON', { cause })
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const noProof = (message: string) => new VerificationError('file', message)

function requireMembers(
  value: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
  name: string,
) {
  const unknown = Object.keys(value).find((member) => !Object.hasOwn(checks, member))
  if (unknown !== undefined)
    throw new VerificationError('proof', `${name} has "${unknown}", which is not a part of a proof`)
  for (const [member, isRight] of Object.entries(checks)) {
    const isMissing = !Object.hasOwn(value, member)
    if (isMissing && optional.includes(member)) continue
    if (isMissing || !isRight(value[member])) throw noProof(`${member} of ${name} is missing or wrong`)
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
