// Compares an export with its manifest and the log. The file is read in the browser and stays there.
import { Button, FileButton } from '@mantine/core'
import { type Compared, compareExport } from '@paylog/event-store/export/compareExport'
import type { ExportProgress } from '@paylog/event-store/export/exportLog'
import { fileOf, type Manifest, manifestOf, parseManifest } from '@paylog/event-store/export/manifest'
import { type DragEvent, useState } from 'react'
import { formatBytes } from '../../format/bytes.ts'
import { useLongWork } from '../../parts/files/useLongWork.ts'
import { LogProgress } from '../../parts/LogProgress.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { ComparisonView } from './ComparisonView.tsx'
import { pageFetcher } from './fetchPage.ts'
import { createSha256 } from './sha256.ts'

type Chosen = { readonly file?: File; readonly manifestFile?: File }
type Verified = { readonly name: string; readonly manifest: Manifest; readonly comparison: Compared }

/** Adds files to those that were chosen before. The name tells a manifest from an export. */
function withFiles(chosen: Chosen, files: readonly File[]): Chosen {
  const file = files.findLast(({ name }) => fileOf(name) === undefined)
  const manifestFile = files.findLast(({ name }) => fileOf(name) !== undefined)
  return { ...chosen, ...(file && { file }), ...(manifestFile && { manifestFile }) }
}

export function VerifyPanel() {
  const [chosen, setChosen] = useState<Chosen>({})
  const { state, start, cancel } = useLongWork<ExportProgress, Verified>()
  const isRunning = state.status === 'running'
  const { file, manifestFile } = chosen
  const choose = (files: readonly File[]) => setChosen(withFiles(chosen, files))
  return (
    <Panel title="Verify an export">
      <div className="stack">
        <p>
          Checks the file against its manifest, then reads the same part of the log again and compares line by line, up
          to the first difference. The file does not leave this browser.
        </p>
        <FileChoice chosen={chosen} choose={choose} isRunning={isRunning} />
        <div className="row">
          <Button
            size="xs"
            disabled={!file || !manifestFile}
            loading={isRunning}
            onClick={() => file && manifestFile && void start((run) => verify(file, manifestFile, run))}
          >
            Verify
          </Button>
          {isRunning && (
            <Button size="xs" variant="default" onClick={cancel}>
              Cancel the verification
            </Button>
          )}
        </div>
        <div className="stack" aria-live="polite">
          {isRunning && file && <ProgressOf progress={state.progress} size={file.size} />}
          {state.status === 'canceled' && <Notice tone="quiet" title="The verification was canceled" />}
          {state.status === 'failed' && <ErrorState error={state.error} />}
          {state.status === 'done' && <ComparisonView {...state.result} />}
        </div>
      </div>
    </Panel>
  )
}

type Run = { readonly signal: AbortSignal; readonly onProgress: (progress: ExportProgress) => void }

/** @throws Error when the manifest is none; errors of `compareExport` */
async function verify(file: File, manifestFile: File, run: Run): Promise<Verified> {
  const manifest = parseManifest(await manifestFile.text())
  if ('problem' in manifest) throw new Error(`${manifestFile.name} ${manifest.problem}`)
  const content = chunksOf(file)
  return {
    name: file.name,
    manifest,
    comparison: await compareExport({ manifest, content, hash: createSha256(), fetchPage: pageFetcher(''), ...run }),
  }
}

/** Streams are not iterable in every browser. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

function FileChoice(props: {
  readonly chosen: Chosen
  readonly choose: (files: readonly File[]) => void
  readonly isRunning: boolean
}) {
  const { chosen, choose, isRunning } = props
  const [isOver, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    if (!isRunning) choose([...event.dataTransfer.files])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same without a pointer.
    <div
      className="dropZone"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <p>Drop the export and its manifest here, or</p>
      <FileButton multiple onChange={choose} inputProps={{ 'aria-label': 'Export and manifest' }}>
        {(button) => (
          <Button {...button} size="xs" variant="default" disabled={isRunning}>
            Choose files
          </Button>
        )}
      </FileButton>
      <p className="hint wrap" aria-live="polite">
        {chosenText(chosen)}
      </p>
    </div>
  )
}

function chosenText({ file, manifestFile }: Chosen): string {
  if (file && manifestFile) return `${file.name} (${formatBytes(file.size)}) and ${manifestFile.name}`
  if (file) return `${file.name} (${formatBytes(file.size)}); still missing: its manifest, ${manifestOf(file.name)}`
  if (manifestFile) return `${manifestFile.name}; still missing: its export, ${fileOf(manifestFile.name)}`
  return 'Two files: FILE and FILE.manifest.json'
}

function ProgressOf({ progress, size }: { readonly progress: ExportProgress | undefined; readonly size: number }) {
  const { events = 0, bytes = 0, position = null, head = null } = progress ?? {}
  return (
    <>
      <LogProgress label="Comparing" events={events} position={position} head={head} />
      <p className="hint">
        {formatBytes(bytes)} of {formatBytes(size)} read
      </p>
    </>
  )
}
