// What administrators did, exports of the log, and whether an export still is what the log says.
import { Page } from '../../parts/Page.tsx'
import { ErasuresPanel } from './ErasuresPanel.tsx'
import { ExportPanel } from './ExportPanel.tsx'
import { TrailPanel } from './TrailPanel.tsx'
import { VerifyPanel } from './VerifyPanel.tsx'

export function AuditPage() {
  return (
    <Page title="Audit" lead="Who did what, and every event that was ever recorded, byte for byte">
      <div className="panels">
        <TrailPanel />
        <ErasuresPanel />
        <ExportPanel />
        <VerifyPanel />
      </div>
    </Page>
  )
}
