// The files of an export: writes it and its manifest completely or not at all, and reads them.
import { createHash, randomBytes } from 'node:crypto'
import { accessSync, constants, createReadStream, existsSync, statSync } from 'node:fs'
import { link, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Hash } from '@paylog/event-store/export/exportLog'
import { fileOf, type Manifest, manifestOf, manifestText, parseManifest } from '@paylog/event-store/export/manifest'
import { OpsError } from '../command.ts'
import { cannotBeRead, existing, reading, readText, writing } from '../files.ts'

export type ExportFile = {
  write(bytes: Uint8Array): Promise<void>
  /** Flushes the file to the disk, and renames both to their final names, the manifest last: a file without it is not an export. */
  publish(manifest: Manifest): Promise<void>
  /** Removes unpublished files. */
  discard(): Promise<void>
}

/**
 * Checks the paths before the work begins.
 * @throws OpsError when one is a directory, or exists and may not be replaced
 */
export function requireFreePaths(path: string, options: { readonly replaces: boolean }): void {
  const files = [path, manifestOf(path)]
  const directory = files.find((each) => statSync(each, { throwIfNoEntry: false })?.isDirectory())
  if (directory !== undefined) throw new OpsError(`${directory} is a directory. Name a file.`)
  const there = options.replaces ? undefined : files.find((each) => existsSync(each))
  if (there !== undefined) throw existing(there)
}

/**
 * Creates a temporary file beside the final one, readable by its owner only.
 * @param options `replaces`: whether existing files may be replaced
 * @throws OpsError when it cannot be written
 */
export async function createExportFile(path: string, options: { readonly replaces: boolean }): Promise<ExportFile> {
  const draft = `${path}.${randomBytes(4).toString('hex')}.part`
  const manifestDraft = `${draft}.manifest.json`
  const file = await writing(path, open(draft, 'wx', 0o600))
  return {
    write: (bytes) => writing(path, file.writeFile(bytes)),
    async publish(manifest) {
      await writing(path, file.sync())
      const asNew = { flag: 'wx', mode: 0o600, flush: true }
      await writing(path, writeFile(manifestDraft, manifestText(manifest), asNew))
      if (options.replaces) {
        // A new file beside an old manifest would look tampered with.
        await writing(path, rm(manifestOf(path), { force: true }))
        await writing(path, rename(draft, path))
        await writing(path, rename(manifestDraft, manifestOf(path)))
      } else {
        requireFreePaths(path, options)
        // Creates a name only if it is free. A rename would replace a file created meanwhile.
        await writing(path, link(draft, path))
        await writing(manifestOf(path), link(manifestDraft, manifestOf(path))).catch(async (error: unknown) => {
          await rm(path, { force: true })
          throw error
        })
      }
      await writing(path, syncDirectory(dirname(path)))
    },
    async discard() {
      await file.close().catch(() => {})
      await rm(draft, { force: true })
      await rm(manifestDraft, { force: true })
    },
  }
}

/** A new name is durable when its directory is synced. */
async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r')
  await directory.sync()
}

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
