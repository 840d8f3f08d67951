// The variables of the recorder.
import { ConfigError } from '@paylog/runtime/config/environment'
import { durationMs, text, url } from '@paylog/runtime/config/kinds'
import { type StaticDecode, Type } from 'typebox'
import {
  NoteError,
  parseSigningKey,
  parseVerifierKey,
  parseVerifierKeys,
  type SigningKey,
  type VerifierKey,
} from './note.ts'
import {
  createPublish,
  createReadPublished,
  type Publish,
  publishingProblem,
  type ReadPublished,
} from './publishing.ts'

export const auditVariables = {
  AUDIT_SIGNING_KEY: Type.Optional(text()),
  AUDIT_PREVIOUS_SIGNING_KEY: Type.Optional(text()),
  AUDIT_VERIFIER_KEYS: Type.Optional(text()),
  AUDIT_STATE_FILE: Type.Optional(text()),
  AUDIT_CHECKPOINT_INTERVAL: durationMs('1m'),
  AUDIT_CHECKPOINT_URL: Type.Optional(url(['file', 's3', 'https', 'http'])),
  AUDIT_S3_ACCESS_KEY_ID: Type.Optional(text()),
  AUDIT_S3_SECRET_ACCESS_KEY: Type.Optional(text()),
}
const AuditConfig = Type.Object(auditVariables)
type AuditConfig = StaticDecode<typeof AuditConfig>

export type SigningKeys = {
  readonly key: SigningKey
  /** The former key, which introduces this one. */
  readonly previous?: SigningKey
  /** All keys whose signatures count: these two, and former ones. */
  readonly verifiers: readonly VerifierKey[]
}

export type Signing = SigningKeys & {
  readonly intervalMs: number
  /** Remembers the newest checkpoint outside of Postgres. */
  readonly stateFile?: string
  /** Absent when checkpoints are published nowhere. */
  readonly publish?: Publish
  readonly readPublished?: ReadPublished
}

/**
 * How checkpoints are signed and published.
 * @returns undefined without a key
 * @throws ConfigError
 */
export function readSigning(config: AuditConfig): Signing | undefined {
  const problems = auditProblems(config)
  if (problems.length > 0) throw new ConfigError(problems)
  const { AUDIT_SIGNING_KEY: keyText, AUDIT_CHECKPOINT_URL: target, AUDIT_STATE_FILE: stateFile } = config
  if (keyText === undefined) return undefined
  const { AUDIT_S3_ACCESS_KEY_ID: accessKeyId, AUDIT_S3_SECRET_ACCESS_KEY: secretAccessKey } = config
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey }
  return {
    ...readKeys(keyText, config),
    intervalMs: config.AUDIT_CHECKPOINT_INTERVAL,
    ...(stateFile !== undefined && { stateFile }),
    ...(target !== undefined && {
      publish: createPublish(target, credentials),
      readPublished: createReadPublished(target, credentials),
    }),
  }
}

function readKeys(keyText: string, config: AuditConfig): SigningKeys {
  const { AUDIT_PREVIOUS_SIGNING_KEY: previousText, AUDIT_VERIFIER_KEYS: further = '' } = config
  const key = parseSigningKey(keyText)
  const previous = previousText === undefined ? undefined : parseSigningKey(previousText)
  const signing = [key, ...(previous === undefined ? [] : [previous])]
  const verifiers = [...signing.map(({ verifierKey }) => parseVerifierKey(verifierKey)), ...parseVerifierKeys(further)]
  return { key, ...(previous !== undefined && { previous }), verifiers }
}

/** @returns a sentence per problem, each beginning with the variable's name */
export function auditProblems(config: AuditConfig): readonly string[] {
  const { AUDIT_CHECKPOINT_URL: target } = config
  const problems = keyProblems(config)
  if (target === undefined) return problems
  const problem = publishingProblem(target)
  if (problem !== undefined) problems.push(`AUDIT_CHECKPOINT_URL ${problem}`)
  if (target.startsWith('s3:'))
    for (const name of ['AUDIT_S3_ACCESS_KEY_ID', 'AUDIT_S3_SECRET_ACCESS_KEY'] as const)
      if (config[name] === undefined) problems.push(`${name} is required with an s3:// AUDIT_CHECKPOINT_URL`)
  return problems
}

function keyProblems(config: AuditConfig): string[] {
  const { AUDIT_SIGNING_KEY: key, AUDIT_PREVIOUS_SIGNING_KEY: previous, AUDIT_VERIFIER_KEYS: verifiers } = config
  const problems = [
    ...problemsOf('AUDIT_SIGNING_KEY is not a signing key', key, parseSigningKey),
    ...problemsOf('AUDIT_PREVIOUS_SIGNING_KEY is not a signing key', previous, parseSigningKey),
    ...problemsOf('AUDIT_VERIFIER_KEYS has a text that is no verifier key', verifiers, parseVerifierKeys),
  ]
  if (problems.length > 0 || key === undefined || previous === undefined) return problems
  const { name } = parseSigningKey(key)
  return parseSigningKey(previous).name === name
    ? []
    : [`AUDIT_PREVIOUS_SIGNING_KEY must have the name of AUDIT_SIGNING_KEY, ${name}: the origin of a log never changes`]
}

function problemsOf(problem: string, text: string | undefined, parse: (text: string) => unknown): string[] {
  try {
    if (text !== undefined) parse(text)
    return []
  } catch (error) {
    if (error instanceof NoteError) return [`${problem}: ${error.message}`]
    throw error
  }
}
