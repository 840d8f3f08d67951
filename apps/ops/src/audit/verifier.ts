// The keys that verify checkpoints, from the command line or the environment.
import { readFileSync } from 'node:fs'
import { NoteError, parseSigningKey, parseVerifierKeys, type VerifierKey } from '@paylog/audit-log/note'
import { loadConfig } from '@paylog/runtime/config/environment'
import { text } from '@paylog/runtime/config/kinds'
import { Type } from 'typebox'
import { messageOf, OpsError, UsageError } from '../command.ts'
import { text as textOption } from '../options.ts'

export const verifierOption = {
  key: textOption(
    'KEY',
    'the verifier key, as `audit key` prints it, or a file that holds it; several separated by commas, after a change of\n' +
      'the signing key (default AUDIT_VERIFIER_KEY and AUDIT_VERIFIER_KEYS)',
  ),
}

const Config = Type.Object({
  AUDIT_VERIFIER_KEY: Type.Optional(text()),
  AUDIT_VERIFIER_KEYS: Type.Optional(text()),
  AUDIT_SIGNING_KEY: Type.Optional(text()),
})

/**
 * @param given of `--key`: keys, or the path of a file
 * @returns the keys whose signatures count; none when neither the command line nor the environment has one
 * @throws OpsError, ConfigError when a key cannot be used
 */
export function readVerifiers(given: string | undefined, environment: NodeJS.ProcessEnv): readonly VerifierKey[] {
  if (given !== undefined)
    return parsed('--key', () => parseVerifierKeys(looksLikeKey(given) ? given : contentOf(given)))
  const current = verifierKeyText(environment)
  const { AUDIT_VERIFIER_KEYS: further = '' } = loadConfig(Config, environment)
  return [
    ...parsed('AUDIT_VERIFIER_KEY', () => parseVerifierKeys(current ?? '')),
    ...parsed('AUDIT_VERIFIER_KEYS', () => parseVerifierKeys(further)),
  ]
}

/**
 * The verifier key of the environment, also where only the signing key is.
 * @throws OpsError, ConfigError when a key cannot be used
 */
export function verifierKeyText(environment: NodeJS.ProcessEnv): string | undefined {
  const { AUDIT_VERIFIER_KEY: verifying, AUDIT_SIGNING_KEY: signing } = loadConfig(Config, environment)
  if (verifying !== undefined || signing === undefined) return verifying?.trim()
  return parsed('AUDIT_SIGNING_KEY', () => parseSigningKey(signing).verifierKey)
}

/** @throws UsageError when there is no key, and the errors of `readVerifiers` */
export function requireVerifiers(given: string | undefined, environment: NodeJS.ProcessEnv): readonly VerifierKey[] {
  const verifiers = readVerifiers(given, environment)
  if (verifiers.length > 0) return verifiers
  throw new UsageError('--key is missing: without the verifier key no checkpoint can be trusted')
}

const looksLikeKey = (text: string) => /^[^+\s]+\+[0-9a-f]{8}\+/.test(text)

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new OpsError(`--key is neither a verifier key nor a file: ${messageOf(cause)}`, { cause })
  }
}

function parsed<Result>(name: string, parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    if (error instanceof NoteError) throw new OpsError(`${name}: ${error.message}`, { cause: error })
    throw error
  }
}
