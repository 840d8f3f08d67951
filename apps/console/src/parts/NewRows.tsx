// Announces rows that are newer than the shown ones.
import { Button } from '@mantine/core'

export function NewRows({ count, show }: { readonly count: number; readonly show: () => void }) {
  return (
    <div aria-live="polite" className="newRows">
      {count > 0 && (
        <Button size="compact-sm" radius="xl" onClick={show}>
          {count} new
        </Button>
      )}
    </div>
  )
}
