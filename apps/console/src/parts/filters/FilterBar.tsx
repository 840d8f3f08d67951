// The filters of a list: a search, a chip for each filter that is set, and a button that adds another one.
import { Button, NativeSelect, Popover, UnstyledButton } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { usePreferences } from '../../layout/Preferences.tsx'
import type { Choice } from '../fields.tsx'
import { Icon } from '../Icon.tsx'
import { FilterEditor } from './FilterEditor.tsx'
import { endOf, type Filter, type FilterValues, filterText, isSet, ownNames } from './filterTypes.ts'
import { SearchField } from './SearchField.tsx'

type Props<Name extends string> = {
  /** Names the list, such as "payments". */
  readonly what: string
  readonly filters: readonly Filter<Name>[]
  readonly values: FilterValues<Name>
  /** Puts filters into the URL; undefined ends one. */
  readonly change: (changes: FilterValues<Name>) => void
  /** The parameter of a search over several fields. */
  readonly search?: { readonly name: Name; readonly placeholder: string }
  /** At the end of the bar, such as an `OrderChoice`. */
  readonly children?: ReactNode
}

export function FilterBar<Name extends string>(props: Props<Name>) {
  const { what, filters, values, change, search, children } = props
  const add = useRef<HTMLButtonElement>(null)
  const set = filters.filter((filter) => isSet(filter, values))
  const end = (names: readonly Name[]) => {
    change(endOf(names))
    // The button that was clicked is gone.
    add.current?.focus()
  }
  const searched = search && values[search.name]
  return (
    <search className="filterBar" aria-label={`Filters of ${what}`}>
      {search && (
        <SearchField
          label={`Search ${what}`}
          placeholder={search.placeholder}
          value={searched}
          change={(text) => change({ [search.name]: text } as FilterValues<Name>)}
        />
      )}
      {set.map((filter) => (
        <Chip key={filter.label} filter={filter} values={values} change={change} end={() => end(ownNames(filter))} />
      ))}
      <AddFilter
        ref={add}
        filters={filters.filter((filter) => !set.includes(filter))}
        values={values}
        change={change}
      />
      {(set.length > 0 || searched !== undefined) && (
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => end([...set.flatMap(ownNames), ...(search ? [search.name] : [])])}
        >
          Clear filters
        </Button>
      )}
      {children && <div className="filterOrder row">{children}</div>}
    </search>
  )
}

type ChipProps<Name extends string> = {
  readonly filter: Filter<Name>
  readonly values: FilterValues<Name>
  readonly change: (changes: FilterValues<Name>) => void
  readonly end: () => void
}

function Chip<Name extends string>({ filter, values, change, end }: ChipProps<Name>) {
  const [isOpen, setOpen] = useState(false)
  const { zone } = usePreferences()
  const text = filterText(filter, values, zone)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus>
      <span className="chip">
        <Popover.Target>
          <UnstyledButton className="chipText" onClick={() => setOpen(!isOpen)}>
            <span>{filter.label}:</span> {text}
          </UnstyledButton>
        </Popover.Target>
        <UnstyledButton className="chipEnd" aria-label={`Remove the filter ${filter.label}`} onClick={end}>
          <Icon name="close" size={12} />
        </UnstyledButton>
      </span>
      <Popover.Dropdown>
        <FilterEditor
          filter={filter}
          values={values}
          apply={(changes) => {
            setOpen(false)
            change(changes)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

type AddProps<Name extends string> = Pick<Props<Name>, 'filters' | 'values' | 'change'> & {
  readonly ref: React.Ref<HTMLButtonElement>
}

function AddFilter<Name extends string>({ filters, values, change, ref }: AddProps<Name>) {
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState<Filter<Name>>()
  const show = (opened: boolean) => {
    setOpen(opened)
    if (opened) setChosen(undefined)
  }
  return (
    <Popover opened={isOpen} onChange={show} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton ref={ref} className="addFilter" disabled={filters.length === 0} onClick={() => show(!isOpen)}>
          <Icon name="add" size={14} /> Add filter
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        {chosen ? (
          <FilterEditor
            filter={chosen}
            values={values}
            apply={(changes) => {
              show(false)
              change(changes)
            }}
          />
        ) : (
          <ul className="optionList">
            {filters.map((filter) => (
              <li key={filter.label}>
                <UnstyledButton onClick={() => setChosen(filter)}>{filter.label}</UnstyledButton>
              </li>
            ))}
          </ul>
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

type Order = { readonly orderBy?: string | undefined; readonly orderDir?: string | undefined }

/** The order of a list, newest first by default. @param props the value of a choice is field and direction: `name asc` */
export function OrderChoice(props: {
  readonly choices: readonly Choice[]
  readonly search: Order
  readonly change: (order: Order) => void
}) {
  const { choices, search, change } = props
  return (
    <NativeSelect
      size="xs"
      aria-label="Order"
      data={[{ value: '', label: 'Newest first' }, ...choices]}
      value={search.orderBy === undefined ? '' : `${search.orderBy} ${search.orderDir ?? 'desc'}`}
      onChange={({ currentTarget }) => {
        const [orderBy, orderDir] = currentTarget.value.split(' ')
        change(orderBy ? { orderBy, orderDir } : { orderBy: undefined, orderDir: undefined })
      }}
    />
  )
}
