// FILE.manifest.json of an export on the disk.
import { readFileSync } from 'node:fs'
import { type Manifest, manifestOf, parseManifest } from '@paylog/event-store/export/manifest'
import type { ExportSelection } from '@paylog/event-store/export/selection'
import { OpsError } from '../command.ts'

/** Whether the path is a manifest instead of an export. */
export function isManifest(path: string): boolean {
  try {
    return !('problem' in parseManifest(readFileSync(path, 'utf8')))
  } catch {
    return false
  }
}

/** @throws OpsError when it is missing or cannot be read by this program */
export function readManifest(file: string): Manifest {
  const path = manifestOf(file)
  const manifest = parseManifest(textOf(path))
  if ('problem' in manifest) throw new OpsError(`${path} ${manifest.problem}`)
  return manifest
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OpsError(`The manifest cannot be read: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}

export function filtersOf({ category, stream, type, since, until }: ExportSelection): Manifest['filters'] {
  const names = { category: category ?? null, stream: stream ?? null, type: type ?? null }
  return { ...names, since: instant(since), until: instant(until) }
}

const instant = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())

/** The selection that an export was made with. */
export function selectionOf({ filters: { category, stream, type, since, until } }: Manifest): ExportSelection {
  return {
    ...(category === null ? {} : { category }),
    ...(stream === null ? {} : { stream }),
    ...(type === null ? {} : { type }),
    ...(since === null ? {} : { since: Date.parse(since) }),
    ...(until === null ? {} : { until: Date.parse(until) }),
  }
}
