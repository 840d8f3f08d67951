// Exports of the log, and whether an export still is what the log says.
import { Page } from '../../parts/Page.tsx'
import { ExportPanel } from './ExportPanel.tsx'
import { VerifyPanel } from './VerifyPanel.tsx'

export function AuditPage() {
  return (
    <Page title="Audit" lead="Every event that was ever recorded, byte for byte">
      <div className="panels">
        <ExportPanel />
        <VerifyPanel />
      </div>
    </Page>
  )
}
