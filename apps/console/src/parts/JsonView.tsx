// Recorded data as text.
import { Button, CopyButton } from '@mantine/core'
import { visibleText } from '@paylog/domain/visibleText'

/** @param props `label` names the data; `value` is shown as indented JSON, or as it is when it is a text */
export function JsonView({ label, value }: { readonly label: string; readonly value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div className="json">
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button className="jsonCopy" size="compact-xs" variant="default" onClick={copy} aria-label={`Copy ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>{visibleText(text)}</pre>
      </section>
    </div>
  )
}
