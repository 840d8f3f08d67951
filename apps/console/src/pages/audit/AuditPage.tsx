// What administrators did, exports of the log, and whether an export still is what the log says.
import { Page } from '../../parts/Page.tsx'
import { useMay } from '../../session/rights.ts'
import { ExportPanel } from './ExportPanel.tsx'
import { TrailPanel } from './TrailPanel.tsx'
import { VerifyPanel } from './VerifyPanel.tsx'

export function AuditPage() {
  const may = useMay()
  return (
    <Page title="Audit" lead="Who did what, and every event that was ever recorded, byte for byte">
      <div className="panels">
        <TrailPanel />
        {may('exportEvents') && (
          <>
            <ExportPanel />
            <VerifyPanel />
          </>
        )}
      </div>
    </Page>
  )
}
