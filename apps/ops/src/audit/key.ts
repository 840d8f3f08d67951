// `audit key`: prints the verifier key, or makes a new pair.
import { NoteError, newSigningKey } from '@paylog/audit-log/note'
import { type CliCommand, OpsError, readArguments, UsageError } from '../command.ts'
import { verifierKeyText } from './verifier.ts'

export const auditKey: CliCommand = {
  usage: '[--new NAME] [--json]',
  summary: 'Print the key that verifies the checkpoints, or make a new pair of keys',
  details: [
    '  --new NAME  prints a new signing key, a secret, and its verifier key. NAME is the origin of the checkpoints, such as',
    '              pay.example.com/log: without spaces and plus signs. It never changes, so choose one that is yours',
    '  --json      one object: verifier_key, with --new also signing_key',
    '',
    'Without --new it prints AUDIT_VERIFIER_KEY, or the verifier key of AUDIT_SIGNING_KEY. Publish it, and give it to auditors:',
    'it verifies, and cannot sign.',
  ].join('\n'),
  async run(args, { environment, print }) {
    const { values } = readArguments(args, [], { new: { type: 'string' }, json: { type: 'boolean' } })
    if (values.new === undefined) {
      const verifierKey = verifierKeyText(environment)
      if (verifierKey === undefined) throw new OpsError('Neither AUDIT_VERIFIER_KEY nor AUDIT_SIGNING_KEY is set.')
      await print(values.json ? JSON.stringify({ verifier_key: verifierKey }) : verifierKey)
      return
    }
    const { signingKey, verifierKey } = newPair(values.new)
    if (values.json) await print(JSON.stringify({ signing_key: signingKey, verifier_key: verifierKey }))
    else
      await print(
        [`AUDIT_SIGNING_KEY (secret): ${signingKey}`, `Verifier key (public):      ${verifierKey}`].join('\n'),
      )
  },
}

function newPair(name: string) {
  try {
    return newSigningKey(name)
  } catch (error) {
    if (error instanceof NoteError) throw new UsageError(`--new: ${error.message}`, { cause: error })
    throw error
  }
}
