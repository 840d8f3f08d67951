// Reads an export and its manifest from the disk.
import { createHash } from 'node:crypto'
import { accessSync, constants, createReadStream } from 'node:fs'
import type { Hash } from '@paylog/event-store/export/exportedLines'
import { fileOf, type Manifest, manifestOf, parseManifest } from '@paylog/event-store/export/manifest'
import { OpsError } from '../command.ts'
import { cannotBeRead, reading, readText } from '../files.ts'

export function createSha256(): Hash {
  const hash = createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
}

/** The content of a file. @throws OpsError when it cannot be read */
export async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 1 << 20 })
  } catch (error) {
    throw cannotBeRead(path, error)
  }
}

/** @throws OpsError when the export cannot be read, or its manifest not by this program */
export function readManifestOf(path: string): Manifest {
  reading(path, () => accessSync(path, constants.R_OK))
  const file = fileOf(path)
  if (file !== undefined && !('problem' in manifestAt(path)))
    throw new OpsError(`${path} is the manifest of an export: name the export itself, ${file}`)
  const manifest = manifestAt(manifestOf(path))
  if ('problem' in manifest) throw new OpsError(`${manifestOf(path)} ${manifest.problem}`)
  return manifest
}

const manifestAt = (path: string) => parseManifest(readText(path))
