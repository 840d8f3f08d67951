// `audit key`: prints the verifier key, or makes a new pair.
import { NoteError, newSigningKey } from '@paylog/audit-log/note'
import { OpsError, UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { text } from '../options.ts'
import { verifierKeyText } from './verifier.ts'

export const auditKey = defineCommand({
  summary: 'Print the key that verifies the checkpoints, or make a new pair of keys',
  options: {
    new: text(
      'NAME',
      'prints a new signing key, a secret, and its verifier key. NAME is the origin of the checkpoints, such as\n' +
        'pay.example.com/log: without spaces and plus signs. It never changes, so choose one that is yours',
    ),
  },
  json: 'one object: verifier_key, with --new also signing_key',
  about: [
    'Without --new it prints AUDIT_VERIFIER_KEY, or the verifier key of AUDIT_SIGNING_KEY. Publish it, and give it to auditors:',
    'it verifies, and cannot sign.',
  ],
  async run({ options, environment }) {
    if (options.new === undefined) {
      const verifierKey = verifierKeyText(environment)
      if (verifierKey === undefined) throw new OpsError('Neither AUDIT_VERIFIER_KEY nor AUDIT_SIGNING_KEY is set.')
      return { json: { verifier_key: verifierKey }, text: verifierKey }
    }
    const { signingKey, verifierKey } = newPair(options.new)
    return {
      json: { signing_key: signingKey, verifier_key: verifierKey },
      text: `AUDIT_SIGNING_KEY (secret): ${signingKey}\nVerifier key (public):      ${verifierKey}`,
    }
  },
})

function newPair(name: string) {
  try {
    return newSigningKey(name)
  } catch (error) {
    if (error instanceof NoteError) throw new UsageError(`--new: ${error.message}`, { cause: error })
    throw error
  }
}
