// Checkpoints (c2sp.org/tlog-checkpoint): size and root of the tree, as the text of a signed note.
import { NoteError, noteText, openNote, type VerifierKey } from './note.ts'
import { hashBytes } from './tree.ts'

export type Checkpoint = {
  /** Identifies the log; the name of the key that signs. */
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/**
 * @param text of a note, without signatures; lines after the third are ignored
 * @throws NoteError for a text of another form
 */
export function parseCheckpoint(text: string): Checkpoint {
  const {
    origin = '',
    size = '',
    hash = '',
  } = /^(?<origin>.+)\n(?<size>0|[1-9]\d*)\n(?<hash>[A-Za-z0-9+/]+=)\n(?:.+\n)*$/u.exec(text)?.groups ?? {}
  const root = Buffer.from(hash, 'base64')
  if (root.length !== hashBytes || root.toString('base64') !== hash || !Number.isSafeInteger(Number(size)))
    throw new NoteError('The text is not a checkpoint: origin, size and root, each on its line')
  return { origin, size: Number(size), root }
}

/** Verifies the signatures of the keys, and that one of them is that of the checkpoint's log. @throws NoteError */
export function openCheckpoint(note: string, ...verifiers: readonly VerifierKey[]): Checkpoint {
  const { text, signers } = openNote(note, ...verifiers)
  const checkpoint = parseCheckpoint(text)
  if (!signers.includes(checkpoint.origin))
    throw new NoteError(`The checkpoint is one of ${checkpoint.origin}, not of ${signers.join(', ')}`)
  return checkpoint
}

/** The checkpoint of a note whose signatures are not checked. @throws NoteError */
export const unverifiedCheckpoint = (note: string): Checkpoint => parseCheckpoint(noteText(note))
