// Writes a part of the log into a file, with its manifest.
import { Button } from '@mantine/core'
import { type ExportProgress, exportLog } from '@paylog/event-store/export/exportLog'
import { type ExportFilters as Filters, noFilters } from '@paylog/event-store/export/filters'
import { type Manifest, manifestOf, manifestText } from '@paylog/event-store/export/manifest'
import { categories } from '@paylog/event-store/streamName'
import { useState } from 'react'
import { api, dataOf } from '../../api/api.ts'
import { formatBytes } from '../../format/bytes.ts'
import { ChoiceField, TextField, TimeField } from '../../parts/fields.tsx'
import { download } from '../../parts/files/download.ts'
import { canWriteFiles, openTarget } from '../../parts/files/fileTarget.ts'
import { useLongWork } from '../../parts/files/useLongWork.ts'
import { LogProgress } from '../../parts/LogProgress.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useReason } from '../../parts/reason.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { ExportedFacts } from './ExportedFacts.tsx'
import { pageFetcher } from './fetchPage.ts'
import { createSha256 } from './sha256.ts'

const ndjson = { type: 'application/x-ndjson', extension: '.ndjson', description: 'Events' } as const

type Exported = { readonly name: string; readonly manifest: Manifest }

export function ExportPanel() {
  const [filters, setFilters] = useState(noFilters)
  const { reason, reasonField } = useReason()
  const { state, start, cancel } = useLongWork<ExportProgress, Exported | undefined>()
  const isRunning = state.status === 'running'
  return (
    <Panel title="Export the log">
      <div className="stack">
        <p>
          Every event, byte for byte, in the order of the log, with a manifest beside the file. Personal data and client
          secrets in it are sealed. The export is recorded in the audit trail.
        </p>
        <ExportFilters filters={filters} change={(changes) => setFilters({ ...filters, ...changes })} />
        {reasonField}
        <div className="row">
          <Button size="xs" loading={isRunning} onClick={() => void start((run) => exportTo(filters, reason, run))}>
            Export
          </Button>
          {isRunning && (
            <Button size="xs" variant="default" onClick={cancel}>
              Cancel the export
            </Button>
          )}
        </div>
        <div className="stack" aria-live="polite">
          {!canWriteFiles() && (
            <p className="hint">
              This browser cannot write a file while it is received: the whole export is kept in memory until it is
              complete.
            </p>
          )}
          {isRunning && <ProgressOf progress={state.progress} />}
          {state.status === 'canceled' && (
            <Notice tone="quiet" title="The export was canceled, and no file was written" />
          )}
          {state.status === 'failed' && <ErrorState error={state.error} />}
          {state.status === 'done' && state.result && <Done exported={state.result} />}
        </div>
      </div>
    </Panel>
  )
}

type Run = { readonly signal: AbortSignal; readonly onProgress: (progress: ExportProgress) => void }

/** @returns undefined when no file was chosen */
async function exportTo(filters: Filters, reason: string, { signal, onProgress }: Run): Promise<Exported | undefined> {
  const name = `paylog-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.ndjson`
  const target = await openTarget(name, ndjson)
  if (target === undefined) return undefined
  try {
    const manifest = await exportLog(
      { fetchPage: pageFetcher(reason), filters, signal },
      { hash: createSha256(), write: target.write, onProgress, findCheckpoint },
    )
    signal.throwIfAborted()
    await target.finish()
    saveManifest({ name: target.name, manifest })
    return { name: target.name, manifest }
  } catch (error) {
    await target.discard().catch(() => undefined)
    throw error
  }
}

/** An export without a checkpoint is one too, so a failure does not end it. */
const findCheckpoint = (last_position: string, count: number) =>
  dataOf(api.findExportCheckpoint({ query: { last_position, count } })).catch(() => null)

const saveManifest = ({ name, manifest }: Exported) =>
  download(manifestOf(name), 'application/json', manifestText(manifest))

function ExportFilters(props: { readonly filters: Filters; readonly change: (changes: Partial<Filters>) => void }) {
  const { filters, change } = props
  return (
    <div className="formGrid">
      <ChoiceField
        label="Category"
        any="All"
        choices={categories.map((value) => ({ value, label: value }))}
        value={filters.category ?? undefined}
        change={(category) => change({ category: category ?? null })}
      />
      <TextField
        label="Stream"
        placeholder="payment-…"
        value={filters.stream ?? undefined}
        change={(stream) => change({ stream: stream ?? null })}
      />
      <TextField
        label="Event type"
        placeholder="PaymentSucceeded"
        value={filters.type ?? undefined}
        change={(type) => change({ type: type ?? null })}
      />
      <TimeField
        label="Since"
        value={filters.since ?? undefined}
        change={(since) => change({ since: since ?? null })}
      />
      <TimeField
        label="Before"
        value={filters.until ?? undefined}
        change={(until) => change({ until: until ?? null })}
      />
    </div>
  )
}

function ProgressOf({ progress }: { readonly progress: ExportProgress | undefined }) {
  const { events = 0, bytes = 0, position = null, head = null } = progress ?? {}
  return (
    <>
      <LogProgress label="Exporting" events={events} position={position} head={head} />
      <p className="hint">
        {formatBytes(bytes)} {canWriteFiles() ? 'written' : 'in memory'}
      </p>
    </>
  )
}

function Done({ exported }: { readonly exported: Exported }) {
  const { name, manifest } = exported
  return (
    <>
      <Notice tone="good" title={`Exported ${manifest.count.toLocaleString()} events to ${name}`}>
        <p>
          Its manifest was saved as <code>{manifestOf(name)}</code> with the downloads of this browser. Keep both in one
          directory; this page and <code>ops streams verify-export {name}</code> check them.
        </p>
      </Notice>
      <ExportedFacts manifest={manifest} />
      <div>
        <Button size="xs" variant="default" onClick={() => saveManifest(exported)}>
          Save the manifest again
        </Button>
      </div>
    </>
  )
}
