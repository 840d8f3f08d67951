// The variables of the recorder.
import { ConfigError } from '@paylog/config/environment'
import { durationMs, text, url } from '@paylog/config/kinds'
import { type StaticDecode, Type } from 'typebox'
import { NoteError, parseSigningKey, type SigningKey } from './note.ts'
import { createPublish, type Publish, publishingProblem } from './publishing.ts'

export const auditVariables = {
  AUDIT_SIGNING_KEY: Type.Optional(text()),
  AUDIT_CHECKPOINT_INTERVAL: durationMs('1m'),
  AUDIT_CHECKPOINT_URL: Type.Optional(url(['file', 's3', 'https', 'http'])),
  AUDIT_S3_ACCESS_KEY_ID: Type.Optional(text()),
  AUDIT_S3_SECRET_ACCESS_KEY: Type.Optional(text()),
}
const AuditConfig = Type.Object(auditVariables)
type AuditConfig = StaticDecode<typeof AuditConfig>

export type Signing = {
  readonly key: SigningKey
  readonly intervalMs: number
  /** Absent when checkpoints are published nowhere. */
  readonly publish?: Publish
}

/**
 * How checkpoints are signed and published.
 * @returns undefined without a key
 * @throws ConfigError
 */
export function readSigning(config: AuditConfig): Signing | undefined {
  const problems = auditProblems(config)
  if (problems.length > 0) throw new ConfigError(problems)
  const { AUDIT_SIGNING_KEY: keyText, AUDIT_CHECKPOINT_URL: target, AUDIT_CHECKPOINT_INTERVAL: intervalMs } = config
  if (keyText === undefined) return undefined
  const { AUDIT_S3_ACCESS_KEY_ID: accessKeyId, AUDIT_S3_SECRET_ACCESS_KEY: secretAccessKey } = config
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey }
  return {
    key: parseSigningKey(keyText),
    intervalMs,
    ...(target !== undefined && { publish: createPublish(target, credentials) }),
  }
}

/** @returns a sentence per problem, each beginning with the variable's name */
export function auditProblems(config: AuditConfig): readonly string[] {
  const { AUDIT_SIGNING_KEY: keyText, AUDIT_CHECKPOINT_URL: target } = config
  const problems: string[] = []
  const keyProblem = keyText === undefined ? undefined : problemOfKey(keyText)
  if (keyProblem !== undefined) problems.push(`AUDIT_SIGNING_KEY is not a signing key: ${keyProblem}`)
  if (target === undefined) return problems
  const problem = publishingProblem(target)
  if (problem !== undefined) problems.push(`AUDIT_CHECKPOINT_URL ${problem}`)
  if (target.startsWith('s3:'))
    for (const name of ['AUDIT_S3_ACCESS_KEY_ID', 'AUDIT_S3_SECRET_ACCESS_KEY'] as const)
      if (config[name] === undefined) problems.push(`${name} is required with an s3:// AUDIT_CHECKPOINT_URL`)
  return problems
}

function problemOfKey(keyText: string): string | undefined {
  try {
    parseSigningKey(keyText)
    return undefined
  } catch (error) {
    if (error instanceof NoteError) return error.message
    throw error
  }
}
