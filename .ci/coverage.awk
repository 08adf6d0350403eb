# Of an lcov file: how many lines of each module named in MODULES were run, and the numbers of those that were not. Fails where
# a module is below MINIMUM percent. Lines of tests don't count: TEST_FILES, and what follows `mod tests {`.

BEGIN {
    count = split(MODULES, modules, " ")
}

/^SF:/ {
    file = substr($0, 4)
    sub(/^.*\/src\//, "", file)
    module = file
    sub(/[\/.].*$/, "", module)
    tests_from = file ~ TEST_FILES ? 0 : first_line_of_tests(substr($0, 4))
}

/^DA:/ {
    split(substr($0, 4), line, ",")
    if (line[1] >= tests_from) next
    lines[module]++
    if (line[2] > 0) run[module]++
    else missed[module] = missed[module] sprintf("    src/%s:%d\n", file, line[1])
}

END {
    for (i = 1; i <= count; i++) {
        module = modules[i]
        percent = lines[module] ? 100 * run[module] / lines[module] : 0
        printf "%s: %d of %d lines, %.2f %%\n%s", module, run[module], lines[module], percent, missed[module]
        if (percent < MINIMUM) {
            printf "%s: less than %s %%\n", module, MINIMUM
            failed = 1
        }
    }
    exit failed
}

function first_line_of_tests(path,    text, number, found) {
    found = 1e9
    while ((getline text < path) > 0) {
        number++
        if (text == "mod tests {") {
            found = number
            break
        }
    }
    close(path)
    return found
}
